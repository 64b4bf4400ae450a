#pragma once
struct DallasTemperature {
  explicit DallasTemperature(OneWire *) {}
  void begin() {}
  void requestTemperatures() {}
  float getTempCByIndex(int) { return -18.44f; }
};
