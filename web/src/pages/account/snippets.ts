// Ready programs that send one reading. Pure: server, token and serial are arguments.
export interface Snippet {
  slug: string;
  label: string;
  code: string;
}

export function snippets(server: string, token: string, serial: string): Snippet[] {
  const url = `${server}/api/v1/readings`;
  return [
    {
      slug: 'curl',
      label: 'curl',
      code: `curl -X POST ${url} \\
  -H 'Authorization: Bearer ${token}' \\
  -H 'Content-Type: application/json' \\
  -d '{"device_serial":"${serial}","product_zone_temp":-19.4,"amp_draw":12.1}'`,
    },
    {
      slug: 'python',
      label: 'Python',
      code: `import json, urllib.request

reading = {"device_serial": "${serial}", "product_zone_temp": -19.4, "amp_draw": 12.1}
request = urllib.request.Request(
    "${url}",
    data=json.dumps(reading).encode(),
    headers={
        "Authorization": "Bearer ${token}",
        "Content-Type": "application/json",
    },
)
with urllib.request.urlopen(request, timeout=10) as answer:
    print(answer.status, answer.read().decode())`,
    },
    {
      slug: 'arduino',
      label: 'Arduino / ESP32',
      code: `#include <WiFi.h>
#include <HTTPClient.h>

void setup() {
  Serial.begin(115200);
  WiFi.begin("YOUR-WIFI", "YOUR-PASSWORD");
  while (WiFi.status() != WL_CONNECTED) delay(250);
}

void loop() {
  float temperature = -19.4;  // read your probe here
  HTTPClient http;
  http.begin("${url}");
  http.addHeader("Authorization", "Bearer ${token}");
  http.addHeader("Content-Type", "application/json");
  String body = String("{\\"device_serial\\":\\"${serial}\\",\\"product_zone_temp\\":") + String(temperature, 1) + "}";
  int status = http.POST(body);  // 201 stored, 200 known already; anything else: send it again later
  Serial.printf("%d %s\\n", status, http.getString().c_str());
  http.end();
  delay(60000);
}`,
    },
    {
      slug: 'node',
      label: 'Node',
      code: `const answer = await fetch('${url}', {
  method: 'POST',
  headers: {
    Authorization: 'Bearer ${token}',
    'Content-Type': 'application/json',
  },
  body: JSON.stringify({ device_serial: '${serial}', product_zone_temp: -19.4, amp_draw: 12.1 }),
});
console.log(answer.status, await answer.json());`,
    },
  ];
}
