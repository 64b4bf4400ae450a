// As much of an ESP32's libraries as the sketch of docs/guides/esp32-ds18b20.md needs:
// what it would send is printed.
#pragma once
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>

inline unsigned long millis() { return 1; }
inline void delay(unsigned long) {}
inline void configTime(long, int, const char *) {}
void setup();
void loop();
