#pragma once
struct OneWire {
  explicit OneWire(int) {}
};
