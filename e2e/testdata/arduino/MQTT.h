#pragma once
// MQTTClient is that of Joël Gähwiler's library (arduino-mqtt 2.5).
struct MQTTClient {
  explicit MQTTClient(int size) : size(size) {}
  void begin(const char *host, int port, WiFiClient &) { printf("broker\t%s\t%d\n", host, port); }
  void setKeepAlive(int) {}
  bool connect(const char *id, const char *user, const char *password) { return printf("connect\t%s\t%s\t%s\n", id, user, password) > 0; }
  bool loop() { return true; }
  bool publish(const char *topic, const char *payload, bool retained, int qos) {
    if (int(strlen(topic) + strlen(payload)) + 6 > size) return false; // does not fit its buffer
    if (lost++ == 0) return printf("lost\t%s\n", payload) < 0; // the connection breaks at the first
    return printf("publish\t%s\t%d\t%d\t%s\n", topic, retained, qos, payload) > 0;
  }
  int size, lost = 0;
};
