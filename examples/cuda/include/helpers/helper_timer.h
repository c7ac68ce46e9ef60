/* helper_timer: stop watches of the host, as CUDA's samples use them. Times are milliseconds of the host's clock. */
#ifndef MINIGPU_HELPER_TIMER_H
#define MINIGPU_HELPER_TIMER_H

#include <chrono>

class StopWatchInterface {
    typedef std::chrono::steady_clock clock;
    clock::time_point began;
    double total_ms = 0;
    unsigned stops = 0;
    bool runs = false;
    double since_ms() const { return std::chrono::duration<double, std::milli>(clock::now() - began).count(); }

  public:
    void start() {
        began = clock::now();
        runs = true;
    }
    void stop() {
        if (runs) total_ms += since_ms(), stops++;
        runs = false;
    }
    void reset() {
        total_ms = 0;
        stops = 0;
        began = clock::now();
    }
    float getTime() { return (float)(runs ? total_ms + since_ms() : total_ms); }
    float getAverageTime() { return stops ? (float)(total_ms / stops) : 0.0f; }
};

static inline bool sdkCreateTimer(StopWatchInterface **timer) { return (*timer = new StopWatchInterface) != nullptr; }
static inline bool sdkDeleteTimer(StopWatchInterface **timer) {
    delete *timer;
    *timer = nullptr;
    return true;
}
static inline bool sdkStartTimer(StopWatchInterface **timer) { return *timer && ((*timer)->start(), true); }
static inline bool sdkStopTimer(StopWatchInterface **timer) { return *timer && ((*timer)->stop(), true); }
static inline bool sdkResetTimer(StopWatchInterface **timer) { return *timer && ((*timer)->reset(), true); }
static inline float sdkGetTimerValue(StopWatchInterface **timer) { return *timer ? (*timer)->getTime() : -1.0f; }
static inline float sdkGetAverageTimerValue(StopWatchInterface **timer) {
    return *timer ? (*timer)->getAverageTime() : -1.0f;
}

#endif
