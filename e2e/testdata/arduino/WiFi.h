#pragma once
enum { WL_CONNECTED = 3 };
struct WiFiClient {};
struct {
  void begin(const char *, const char *) {}
  int status() { return WL_CONNECTED; }
  int RSSI() { return -61; }
} WiFi;
