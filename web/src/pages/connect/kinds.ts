// What people own, and what has to be entered there. Pure: the server's address
// and the source's key are arguments.
import { tr } from '../../words/tr';

export interface Copied {
  label: string;
  text: string;
  /** It is an address to be opened by a phone. */
  scan?: true;
}

export interface Kind {
  slug: string;
  label: string;
  hint: string;
  /** The built-in template by which its payloads are read. */
  template: string;
  /** The topics of a broker that we read: no key is made, the broker is asked for. */
  topics?: string;
  /** Senders reach this server by MQTT, which its operator may not have turned on. */
  listens?: true;
  /** What to do, in order; `copy` follows the step that needs it. `mqtt` is where MQTT is taken in, '' where it is not. */
  steps(server: string, key: string, mqtt: string): { text: string; copy?: Copied[] }[];
}

const inbox = (server: string, key: string) => `${server}/in/${key}`;

/** influx is the address and key in the parts that clients of InfluxDB ask for. */
const influx = (server: string, key: string) => {
  const url = new URL(server);
  const tls = url.protocol === 'https:';
  return { url, tls, port: url.port || (tls ? '443' : '80'), key };
};

export const kinds: Kind[] = [
  {
    slug: 'esp32',
    label: tr('ESP32 or Arduino'),
    hint: tr('A board with a probe'),
    template: 'auto',
    steps: (server, key) => [
      {
        text: tr('Flash this sketch, with your Wi-Fi and your probe filled in. Give every board an id of its own.'),
        copy: [
          {
            label: tr('Sketch'),
            text: `#include <WiFi.h>
#include <HTTPClient.h>

void setup() {
  WiFi.begin("YOUR-WIFI", "YOUR-PASSWORD");
  while (WiFi.status() != WL_CONNECTED) delay(250);
}

void loop() {
  float temperature = NAN;  // read your probe here, in °C
  if (isnan(temperature)) { delay(10000); return; }  // nothing is better than a made-up value
  HTTPClient http;
  http.begin("${inbox(server, key)}");
  int status = http.POST(String("{\\"id\\":\\"back-freezer\\",\\"temperature\\":") + String(temperature, 1) + "}");
  http.end();
  delay(status == 200 ? 60000 : 10000);
}`,
          },
        ],
      },
    ],
  },
  {
    slug: 'chirpstack',
    label: 'ChirpStack',
    hint: tr('LoRaWAN sensors, version 4'),
    template: 'chirpstack-v4',
    steps: (server, key) => [
      { text: tr('In ChirpStack, open your application, then Integrations, and add HTTP.') },
      { text: tr('Payload encoding: JSON. Event endpoint URL:'), copy: [{ label: 'URL', text: inbox(server, key) }] },
    ],
  },
  {
    slug: 'tts',
    label: 'The Things Stack',
    hint: tr('LoRaWAN sensors, version 3'),
    template: 'tts-v3',
    steps: (server, key) => [
      { text: tr('In the console, open your application, then Integrations, Webhooks, and add a custom webhook.') },
      { text: tr('Format: JSON. Enable the uplink message. Base URL:'), copy: [{ label: 'URL', text: inbox(server, key) }] },
    ],
  },
  {
    slug: 'shelly',
    label: 'Shelly',
    hint: tr('H&T, Plus and Pro over Wi-Fi'),
    template: 'shelly',
    steps: (server, key) => [
      { text: tr('Generation 1 (H&T): in Internet & Security, under I/O URL actions, set “Report sensor values” to:'), copy: [{ label: tr('URL, generation 1'), text: inbox(server, key) }] },
      { text: tr('Plus, Pro and newer: in Actions, add one for a change of temperature, with this URL. Give every Shelly an id of its own.'), copy: [{ label: tr('URL, generation 2 and newer'), text: `${inbox(server, key)}?id=shelly-back-freezer&temp=\${ev.tC}` }] },
    ],
  },
  {
    slug: 'home-assistant',
    label: 'Home Assistant',
    hint: tr('Zigbee, Z-Wave, ESPHome: whatever it knows'),
    template: 'auto',
    steps: (server, key) => {
      const to = influx(server, key);
      return [
        {
          text: tr('Add this to configuration.yaml, choose the sensors of your refrigerators, and restart Home Assistant.'),
          copy: [
            {
              label: 'configuration.yaml',
              text: `influxdb:
  api_version: 2
  host: ${to.url.hostname}
  port: ${to.port}
  ssl: ${to.tls}
  organization: rimewatch
  bucket: rimewatch
  token: ${key}
  include:
    entity_globs:
      - sensor.*fridge*
      - sensor.*freezer*`,
            },
          ],
        },
      ];
    },
  },
  {
    slug: 'zigbee2mqtt',
    label: 'Zigbee2MQTT',
    hint: tr('Zigbee sensors at an MQTT broker'),
    template: 'zigbee2mqtt',
    topics: 'zigbee2mqtt/#',
    steps: () => [{ text: tr('In Zigbee2MQTT, open Settings, then Advanced, and set “Last seen” to ISO 8601: every message then has its own time.') }, { text: tr('Say how this server reaches your broker.') }],
  },
  {
    slug: 'mqtt',
    label: 'MQTT',
    hint: tr('Tasmota, ESPHome or firmware without a broker'),
    template: 'auto',
    listens: true,
    steps: (_, key, mqtt) =>
      mqtt
        ? [
            { text: tr('Enter this as the broker.'), copy: [{ label: tr('Address'), text: mqtt }, { label: tr('User name'), text: 'rimewatch' }, { label: tr('Password'), text: key }] },
            { text: tr('Publish to a topic of its own for every device, at QoS 1.'), copy: [{ label: tr('Topic'), text: 'cold/back-freezer' }, { label: tr('Message'), text: '{"temperature":-19.4}' }] },
          ]
        : [{ text: tr('This server does not accept MQTT yet. Its operator turns it on with --mqtt-listen or --mqtts-listen.') }],
  },
  {
    slug: 'telegraf',
    label: 'Telegraf',
    hint: tr('Modbus, SNMP, OPC UA controllers'),
    template: 'auto',
    steps: (server, key) => [
      {
        text: tr('Add this output to telegraf.conf and restart Telegraf.'),
        copy: [
          {
            label: 'telegraf.conf',
            text: `[[outputs.influxdb_v2]]
  urls = ["${server}"]
  token = "${key}"
  organization = "rimewatch"
  bucket = "rimewatch"`,
          },
        ],
      },
    ],
  },
  {
    slug: 'phone',
    label: tr('Your phone'),
    hint: tr('To try it, or to type in what a thermometer shows'),
    template: 'auto',
    steps: (server, key) => [{ text: tr('Scan this with the phone, or open the link, and send a temperature.'), copy: [{ label: tr('Link'), text: `${server}/send#${key}`, scan: true }] }],
  },
  {
    slug: 'curl',
    label: 'curl',
    hint: tr('Try it from a shell'),
    template: 'auto',
    steps: (server, key) => [{ text: tr('Paste this into a terminal.'), copy: [{ label: tr('Command'), text: `curl -d '{"id":"back-freezer","temperature":-19.4}' ${inbox(server, key)}` }] }],
  },
  {
    slug: 'python',
    label: 'Python',
    hint: tr('A script of your own'),
    template: 'auto',
    steps: (server, key) => [
      {
        text: tr('Send a reading like this, with an id for every device.'),
        copy: [
          {
            label: tr('Script'),
            text: `import json, urllib.request

reading = {"id": "back-freezer", "temperature": -19.4}
urllib.request.urlopen("${inbox(server, key)}", json.dumps(reading).encode(), timeout=10)`,
          },
        ],
      },
    ],
  },
  {
    slug: 'other',
    label: tr('Something else'),
    hint: tr('Anything that can send JSON to a URL'),
    template: 'auto',
    steps: (server, key) => [
      { text: tr('Let it send JSON by POST, or values as parameters of a GET, to this URL. A name ending in “temperature” and an id of the device are enough.'), copy: [{ label: 'URL', text: inbox(server, key) }] },
    ],
  },
];

export const kindOf = (slug: string) => kinds.find((k) => k.slug === slug);
