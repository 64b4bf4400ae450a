// browserName says in few words which browser a User-Agent is: "Firefox on Windows".
import { tr } from '../../words/tr';

const browsers: [RegExp, string][] = [
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/SamsungBrowser\//, 'Samsung Internet'],
  [/Firefox\//, 'Firefox'],
  [/Chrome\/|CriOS\//, 'Chrome'],
  [/Safari\//, 'Safari'],
];
const systems: [RegExp, string][] = [
  [/iPhone|iPad/, 'iOS'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/CrOS/, 'ChromeOS'],
  [/Linux/, 'Linux'],
];

export function browserName(agent: string): string {
  const browser = browsers.find(([re]) => re.test(agent))?.[1];
  const system = systems.find(([re]) => re.test(agent))?.[1];
  if (browser && system) return tr('{browser} on {system}', { browser, system });
  return browser ?? system ?? (agent.slice(0, 40) || tr('Unknown browser'));
}
