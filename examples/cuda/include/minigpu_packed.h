/* minigpu_packed: functions on two halves or four bytes of a word. PTX's instructions for them are gone from GPUs since
 * Maxwell, so they are calls of device/instructions.c here. */
#ifndef MINIGPU_PACKED_H
#define MINIGPU_PACKED_H

extern "C" {
__device__ unsigned __nv_vabs2(unsigned);
__device__ unsigned __nv_vabs4(unsigned);
__device__ unsigned __nv_vabsdiffs2(unsigned, unsigned);
__device__ unsigned __nv_vabsdiffs4(unsigned, unsigned);
__device__ unsigned __nv_vabsdiffu2(unsigned, unsigned);
__device__ unsigned __nv_vabsdiffu4(unsigned, unsigned);
__device__ unsigned __nv_vabsss2(unsigned);
__device__ unsigned __nv_vabsss4(unsigned);
__device__ unsigned __nv_vadd2(unsigned, unsigned);
__device__ unsigned __nv_vadd4(unsigned, unsigned);
__device__ unsigned __nv_vaddss2(unsigned, unsigned);
__device__ unsigned __nv_vaddss4(unsigned, unsigned);
__device__ unsigned __nv_vaddus2(unsigned, unsigned);
__device__ unsigned __nv_vaddus4(unsigned, unsigned);
__device__ unsigned __nv_vavgs2(unsigned, unsigned);
__device__ unsigned __nv_vavgs4(unsigned, unsigned);
__device__ unsigned __nv_vavgu2(unsigned, unsigned);
__device__ unsigned __nv_vavgu4(unsigned, unsigned);
__device__ unsigned __nv_vcmpeq2(unsigned, unsigned);
__device__ unsigned __nv_vcmpeq4(unsigned, unsigned);
__device__ unsigned __nv_vcmpges2(unsigned, unsigned);
__device__ unsigned __nv_vcmpges4(unsigned, unsigned);
__device__ unsigned __nv_vcmpgeu2(unsigned, unsigned);
__device__ unsigned __nv_vcmpgeu4(unsigned, unsigned);
__device__ unsigned __nv_vcmpgts2(unsigned, unsigned);
__device__ unsigned __nv_vcmpgts4(unsigned, unsigned);
__device__ unsigned __nv_vcmpgtu2(unsigned, unsigned);
__device__ unsigned __nv_vcmpgtu4(unsigned, unsigned);
__device__ unsigned __nv_vcmples2(unsigned, unsigned);
__device__ unsigned __nv_vcmples4(unsigned, unsigned);
__device__ unsigned __nv_vcmpleu2(unsigned, unsigned);
__device__ unsigned __nv_vcmpleu4(unsigned, unsigned);
__device__ unsigned __nv_vcmplts2(unsigned, unsigned);
__device__ unsigned __nv_vcmplts4(unsigned, unsigned);
__device__ unsigned __nv_vcmpltu2(unsigned, unsigned);
__device__ unsigned __nv_vcmpltu4(unsigned, unsigned);
__device__ unsigned __nv_vcmpne2(unsigned, unsigned);
__device__ unsigned __nv_vcmpne4(unsigned, unsigned);
__device__ unsigned __nv_vhaddu2(unsigned, unsigned);
__device__ unsigned __nv_vhaddu4(unsigned, unsigned);
__device__ unsigned __nv_vmaxs2(unsigned, unsigned);
__device__ unsigned __nv_vmaxs4(unsigned, unsigned);
__device__ unsigned __nv_vmaxu2(unsigned, unsigned);
__device__ unsigned __nv_vmaxu4(unsigned, unsigned);
__device__ unsigned __nv_vmins2(unsigned, unsigned);
__device__ unsigned __nv_vmins4(unsigned, unsigned);
__device__ unsigned __nv_vminu2(unsigned, unsigned);
__device__ unsigned __nv_vminu4(unsigned, unsigned);
__device__ unsigned __nv_vneg2(unsigned);
__device__ unsigned __nv_vneg4(unsigned);
__device__ unsigned __nv_vnegss2(unsigned);
__device__ unsigned __nv_vnegss4(unsigned);
__device__ unsigned __nv_vsads2(unsigned, unsigned);
__device__ unsigned __nv_vsads4(unsigned, unsigned);
__device__ unsigned __nv_vsadu2(unsigned, unsigned);
__device__ unsigned __nv_vsadu4(unsigned, unsigned);
__device__ unsigned __nv_vseteq2(unsigned, unsigned);
__device__ unsigned __nv_vseteq4(unsigned, unsigned);
__device__ unsigned __nv_vsetges2(unsigned, unsigned);
__device__ unsigned __nv_vsetges4(unsigned, unsigned);
__device__ unsigned __nv_vsetgeu2(unsigned, unsigned);
__device__ unsigned __nv_vsetgeu4(unsigned, unsigned);
__device__ unsigned __nv_vsetgts2(unsigned, unsigned);
__device__ unsigned __nv_vsetgts4(unsigned, unsigned);
__device__ unsigned __nv_vsetgtu2(unsigned, unsigned);
__device__ unsigned __nv_vsetgtu4(unsigned, unsigned);
__device__ unsigned __nv_vsetles2(unsigned, unsigned);
__device__ unsigned __nv_vsetles4(unsigned, unsigned);
__device__ unsigned __nv_vsetleu2(unsigned, unsigned);
__device__ unsigned __nv_vsetleu4(unsigned, unsigned);
__device__ unsigned __nv_vsetlts2(unsigned, unsigned);
__device__ unsigned __nv_vsetlts4(unsigned, unsigned);
__device__ unsigned __nv_vsetltu2(unsigned, unsigned);
__device__ unsigned __nv_vsetltu4(unsigned, unsigned);
__device__ unsigned __nv_vsetne2(unsigned, unsigned);
__device__ unsigned __nv_vsetne4(unsigned, unsigned);
__device__ unsigned __nv_vsub2(unsigned, unsigned);
__device__ unsigned __nv_vsub4(unsigned, unsigned);
__device__ unsigned __nv_vsubss2(unsigned, unsigned);
__device__ unsigned __nv_vsubss4(unsigned, unsigned);
__device__ unsigned __nv_vsubus2(unsigned, unsigned);
__device__ unsigned __nv_vsubus4(unsigned, unsigned);
}
#define __vabs2 __nv_vabs2
#define __vabs4 __nv_vabs4
#define __vabsdiffs2 __nv_vabsdiffs2
#define __vabsdiffs4 __nv_vabsdiffs4
#define __vabsdiffu2 __nv_vabsdiffu2
#define __vabsdiffu4 __nv_vabsdiffu4
#define __vabsss2 __nv_vabsss2
#define __vabsss4 __nv_vabsss4
#define __vadd2 __nv_vadd2
#define __vadd4 __nv_vadd4
#define __vaddss2 __nv_vaddss2
#define __vaddss4 __nv_vaddss4
#define __vaddus2 __nv_vaddus2
#define __vaddus4 __nv_vaddus4
#define __vavgs2 __nv_vavgs2
#define __vavgs4 __nv_vavgs4
#define __vavgu2 __nv_vavgu2
#define __vavgu4 __nv_vavgu4
#define __vcmpeq2 __nv_vcmpeq2
#define __vcmpeq4 __nv_vcmpeq4
#define __vcmpges2 __nv_vcmpges2
#define __vcmpges4 __nv_vcmpges4
#define __vcmpgeu2 __nv_vcmpgeu2
#define __vcmpgeu4 __nv_vcmpgeu4
#define __vcmpgts2 __nv_vcmpgts2
#define __vcmpgts4 __nv_vcmpgts4
#define __vcmpgtu2 __nv_vcmpgtu2
#define __vcmpgtu4 __nv_vcmpgtu4
#define __vcmples2 __nv_vcmples2
#define __vcmples4 __nv_vcmples4
#define __vcmpleu2 __nv_vcmpleu2
#define __vcmpleu4 __nv_vcmpleu4
#define __vcmplts2 __nv_vcmplts2
#define __vcmplts4 __nv_vcmplts4
#define __vcmpltu2 __nv_vcmpltu2
#define __vcmpltu4 __nv_vcmpltu4
#define __vcmpne2 __nv_vcmpne2
#define __vcmpne4 __nv_vcmpne4
#define __vhaddu2 __nv_vhaddu2
#define __vhaddu4 __nv_vhaddu4
#define __vmaxs2 __nv_vmaxs2
#define __vmaxs4 __nv_vmaxs4
#define __vmaxu2 __nv_vmaxu2
#define __vmaxu4 __nv_vmaxu4
#define __vmins2 __nv_vmins2
#define __vmins4 __nv_vmins4
#define __vminu2 __nv_vminu2
#define __vminu4 __nv_vminu4
#define __vneg2 __nv_vneg2
#define __vneg4 __nv_vneg4
#define __vnegss2 __nv_vnegss2
#define __vnegss4 __nv_vnegss4
#define __vsads2 __nv_vsads2
#define __vsads4 __nv_vsads4
#define __vsadu2 __nv_vsadu2
#define __vsadu4 __nv_vsadu4
#define __vseteq2 __nv_vseteq2
#define __vseteq4 __nv_vseteq4
#define __vsetges2 __nv_vsetges2
#define __vsetges4 __nv_vsetges4
#define __vsetgeu2 __nv_vsetgeu2
#define __vsetgeu4 __nv_vsetgeu4
#define __vsetgts2 __nv_vsetgts2
#define __vsetgts4 __nv_vsetgts4
#define __vsetgtu2 __nv_vsetgtu2
#define __vsetgtu4 __nv_vsetgtu4
#define __vsetles2 __nv_vsetles2
#define __vsetles4 __nv_vsetles4
#define __vsetleu2 __nv_vsetleu2
#define __vsetleu4 __nv_vsetleu4
#define __vsetlts2 __nv_vsetlts2
#define __vsetlts4 __nv_vsetlts4
#define __vsetltu2 __nv_vsetltu2
#define __vsetltu4 __nv_vsetltu4
#define __vsetne2 __nv_vsetne2
#define __vsetne4 __nv_vsetne4
#define __vsub2 __nv_vsub2
#define __vsub4 __nv_vsub4
#define __vsubss2 __nv_vsubss2
#define __vsubss4 __nv_vsubss4
#define __vsubus2 __nv_vsubus2
#define __vsubus4 __nv_vsubus4

#endif
