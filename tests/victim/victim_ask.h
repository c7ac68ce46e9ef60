/* The questions of gpump_victim with their parts as arguments, so that tests stay short. */
#ifndef VICTIM_ASK_H
#define VICTIM_ASK_H
#include "test.h"

static inline gpump_result victim_decide(const gpump_victim_policy *policy, const gpump_victim_request *request,
                                         const gpump_victim_geometry *geometry, const gpump_victim_sm *sms,
                                         uint32_t sm_count, void *scratch, size_t scratch_bytes,
                                         gpump_victim_place *places, uint32_t place_capacity,
                                         gpump_block_choice *choices, uint32_t choice_capacity,
                                         gpump_victim_decision *decision, gpump_diag *diag) {
    gpump_victim_question question;
    memset(&question, 0, sizeof question);
    question.policy = policy;
    question.request = request;
    question.geometry = geometry;
    question.sms = sms;
    question.sm_count = sm_count;
    question.scratch = scratch;
    question.scratch_bytes = scratch_bytes;
    question.places = places;
    question.place_capacity = place_capacity;
    question.choices = choices;
    question.choice_capacity = choice_capacity;
    return gpump_victim_decide(&question, decision, diag);
}

/* GPUMP_VICTIM_ASK_VACATE or GPUMP_VICTIM_ASK_AGAIN. */
static inline gpump_result victim_ask(gpump_victim_ask ask, const gpump_victim_policy *policy,
                                      const gpump_victim_request *request, const gpump_victim_sm *sms,
                                      uint32_t sm_count, gpump_block_choice *choices, uint32_t choice_capacity,
                                      gpump_victim_decision *decision, gpump_diag *diag) {
    gpump_victim_question question;
    memset(&question, 0, sizeof question);
    question.ask = ask;
    question.policy = policy;
    question.request = request;
    question.sms = sms;
    question.sm_count = sm_count;
    question.choices = choices;
    question.choice_capacity = choice_capacity;
    return gpump_victim_decide(&question, decision, diag);
}
#endif
