#include "Arduino.h"

int main() {
  setup();
  loop();
}
