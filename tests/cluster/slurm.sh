#!/bin/bash
# A job array on a Slurm cluster of one machine, started for this test and ended with it: slurm.sh BUILD_DIR
# Sixteen shards of a tbsim sweep run as an array; one of them is killed and comes again; the merged file equals that of a sweep
# without shards, byte for byte. Munge, slurmctld and slurmd listen on the loopback and keep everything in a folder of their own.
# Exit status: 0 right, 1 wrong, 77 skipped: apt-get install slurmctld slurmd slurm-client munge (as root).
set -u
build=$(cd "$1" && pwd) && source=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
for program in munged slurmctld slurmd sbatch; do
    command -v $program >/dev/null 2>&1 || { echo "SKIPPED: there is no $program (apt-get install slurmctld slurmd slurm-client munge)"; exit 77; }
done
[ "$(id -u)" -eq 0 ] || { echo "SKIPPED: slurmd needs to be root"; exit 77; }
work=$(mktemp -d) && chmod 755 "$work" && cd "$work" || exit 1
end() {
    scancel --full --user=root 2>/dev/null
    for name in slurmd slurmctld munged; do [ -s $name.pid ] && kill "$(cat $name.pid)" 2>/dev/null; done
    sleep 1
    cd / && rm -rf "$work"
}
trap end EXIT
mkdir state spool
dd if=/dev/urandom of=munge.key bs=1 count=1024 status=none && chmod 400 munge.key
munged --force --num-threads=2 --key-file="$work/munge.key" --socket="$work/munge.socket" --pid-file="$work/munged.pid" --log-file="$work/munged.log" \
    --seed-file="$work/munge.seed" || exit 1
host=$(hostname -s)
cat >slurm.conf <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=16817
SlurmdPort=16818
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
ReturnToService=2
JobRequeue=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$work/slurm.conf
slurmctld -f slurm.conf && slurmd -f slurm.conf || { cat slurmctld.log slurmd.log; exit 1; }
for _ in $(seq 60); do
    sinfo -h -o %T 2>/dev/null | grep -q idle && break
    sleep 0.5
done
sinfo -h -o %T | grep -q idle || { tail -n 5 slurmctld.log slurmd.log; echo "WRONG: the node did not come up"; exit 1; }

tbsim=$build/examples/tbsim/tbsim
sweep="$tbsim sweep --workloads 64 --processes 4 --schedule equal"
$sweep --out whole.csv >/dev/null || exit 1
# The first attempt of shard 5 waits to be killed; a requeued job counts its restarts.
cat >job.sh <<JOB
#!/bin/sh
cd "$work"
if [ "\$SLURM_ARRAY_TASK_ID" -eq 5 ] && [ "\${SLURM_RESTART_COUNT:-0}" -eq 0 ]; then touch waits; sleep 600; fi
[ "\$SLURM_ARRAY_TASK_ID" -eq 5 ] && echo "\$SLURM_RESTART_COUNT" >restarts
rm -f "part\$SLURM_ARRAY_TASK_ID.csv"
exec $sweep --shard \$SLURM_ARRAY_TASK_ID/16 --out part\$SLURM_ARRAY_TASK_ID.csv
JOB
job=$(sbatch --parsable --requeue --array=0-15 --output="$work/job-%a.log" job.sh) || exit 1
for _ in $(seq 360); do
    [ -e waits ] && [ ! -e killed ] && scontrol requeue "${job}_5" && touch killed
    [ -e killed ] && [ ! -s restarts ] && scontrol update jobid="${job}_5" starttime=now 2>/dev/null # else Slurm waits two minutes
    [ -z "$(squeue -h -j "$job" 2>/dev/null)" ] && break
    sleep 0.5
done
[ -e killed ] && [ -s restarts ] || { squeue; tail -n 5 slurmctld.log; echo "WRONG: no shard was killed and came again"; exit 1; }
[ "$(ls part*.csv | wc -l)" -eq 16 ] || { cat job-*.log; echo "WRONG: a shard is missing"; exit 1; }
"$tbsim" merge all.csv part*.csv >/dev/null && cmp all.csv whole.csv || { echo "WRONG: the merged file differs"; exit 1; }
echo "16 shards as a job array, one of them killed and run again ($(cat restarts) restart): the merged file is that of one run, byte for byte"
