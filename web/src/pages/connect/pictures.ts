// What people own, drawn for this UI on a grid of 72 × 48, in ink alone: `body` is filled
// with paper and outlined, `line` is on top of it.
export const pictures: Record<string, { body: string; line: string }> = {
  // A board with an antenna on it and a probe on a cable.
  esp32: {
    body: 'M6 14h38v22H6zM58 17h5v16a2.5 2.5 0 0 1-5 0z',
    line: 'M14 20h14v10H14zM33 31v-8h3v8h3v-8h2M12 36v4M18 36v4M24 36v4M30 36v4M36 36v4M12 14v-4M18 14v-4M24 14v-4M30 14v-4M36 14v-4M44 19h3c5 0 2-13 7-13s6.5 3 6.5 11M58 22h5',
  },
  // A sensor on a wall that sends far.
  chirpstack: {
    body: 'M18 18h30a3 3 0 0 1 3 3v17a3 3 0 0 1-3 3H18a3 3 0 0 1-3-3V21a3 3 0 0 1 3-3z',
    line: 'M44 18V5M49.5 4a9 9 0 0 1 0 8M54.5 1.500a15 15 0 0 1 0 13M38.5 4a9 9 0 0 0 0 8M33.5 1.500a15 15 0 0 0 0 13M22 25h9M22 30h15M22 35h12M44 33.500v4M44 25v.1',
  },
  // A gateway at a mast.
  tts: {
    body: 'M14 28h34a3 3 0 0 1 3 3v8a3 3 0 0 1-3 3H14a3 3 0 0 1-3-3v-8a3 3 0 0 1 3-3z',
    line: 'M19 28V10M43 28V10M19 10v-2M43 10v-2M18 35v.1M24 35v.1M30 35v.1M38 35h8M26.5 14.500a6.5 6.5 0 0 1 9 0M23.5 10.500a11 11 0 0 1 15 0M31 19v.1M51 35h9v7',
  },
  // A round one that shows the temperature.
  shelly: {
    body: 'M36 4a20 20 0 1 0 0 40 20 20 0 0 0 0-40z',
    line: 'M36 11a13 13 0 1 0 0 26 13 13 0 0 0 0-26zM31 19.500h6l-4 4.500a3 3 0 1 1-2 5M41 18.500a1.7 1.7 0 1 0 0 3.4 1.7 1.7 0 0 0 0-3.400zM31 41l-1 4h12l-1-4',
  },
  'home-assistant': {
    body: 'M36 5 58 24h-5v18H19V24h-5z',
    line: 'M36 42V22M36 35l-7-6M36 30l7-6M36 17.500a2.2 2.2 0 1 0 0 4.4 2.2 2.2 0 0 0 0-4.400zM27.5 25.500a2.2 2.2 0 1 0 0 4.4 2.2 2.2 0 0 0 0-4.400zM44.5 20.500a2.2 2.2 0 1 0 0 4.4 2.2 2.2 0 0 0 0-4.400z',
  },
  // A stick with an antenna, and the sensors that it hears.
  zigbee2mqtt: {
    body: 'M8 27h22v11H8zM30 29.500h8v6h-8zM48 6h8v8h-8zM58 20h8v8h-8zM48 34h8v8h-8z',
    line: 'M13 27V8M13 8v-3M18 32.500h7M19 15.500a6 6 0 0 1 0 6M24 12.500a11.5 11.5 0 0 1 0 12M34 32.500v.1M52 10v.1M62 24v.1M52 38v.1M54.5 16.500l3 3.500M57.5 28.500l-3 4',
  },
  // A plug that measures.
  mqtt: {
    body: 'M24 6h24a8 8 0 0 1 8 8v20a8 8 0 0 1-8 8H24a8 8 0 0 1-8-8V14a8 8 0 0 1 8-8z',
    line: 'M36 11a13 13 0 1 0 0 26 13 13 0 0 0 0-26zM31 24v.1M41 24v.1M36 15v2.500M36 30.500V33M51 11v.1',
  },
  // A controller on a rail.
  telegraf: {
    body: 'M14 7h44v34H14z',
    line: 'M14 14.500h44M14 33.500h44M19 10.800v.1M25 10.800v.1M31 10.800v.1M37 10.800v.1M43 10.800v.1M49 10.800v.1M19 37.300v.1M25 37.300v.1M31 37.300v.1M37 37.300v.1M43 37.300v.1M49 37.300v.1M20 24h5M30 20v8M35 20h4.500v4H35v4h4.500M43.5 28v.1M52.5 20H48v8h4.500v-4H48M4 24h10M58 24h10',
  },
  phone: {
    body: 'M28 3h16a4 4 0 0 1 4 4v34a4 4 0 0 1-4 4H28a4 4 0 0 1-4-4V7a4 4 0 0 1 4-4z',
    line: 'M34 7h4M29 14h14v8H29zM32 18h.1M36 18h4M29 27h14M29 32h9M34.5 40h3',
  },
  curl: {
    body: 'M12 7h48a3 3 0 0 1 3 3v28a3 3 0 0 1-3 3H12a3 3 0 0 1-3-3V10a3 3 0 0 1 3-3z',
    line: 'M9 15h54M14 11h.1M18.5 11h.1M23 11h.1M17 22l5 4.5-5 4.500M26 31.500h9',
  },
  python: {
    body: 'M20 4h22l11 11v29H20z',
    line: 'M42 4v11h11M31.5 24l-5 5 5 5M41.5 24l5 5-5 5M38.2 22.500l-3.4 13',
  },
  other: {
    body: 'M16 8h40a3 3 0 0 1 3 3v26a3 3 0 0 1-3 3H16a3 3 0 0 1-3-3V11a3 3 0 0 1 3-3z',
    line: 'M29 16.500c-3 0-3.5 1-3.5 3v2c0 1.5-1 2.5-3 2.5 2 0 3 1 3 2.500v2c0 2 .5 3 3.5 3M43 16.500c3 0 3.5 1 3.5 3v2c0 1.5 1 2.5 3 2.5-2 0-3 1-3 2.500v2c0 2-.5 3-3.5 3M32 26.500v.1M36 26.500v.1M40 26.500v.1',
  },
};
