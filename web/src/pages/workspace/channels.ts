// How people are notified: what each asks for, where that is found,
// and the channel that it makes. Pure: what was typed is the argument.
import type { Schemas } from '../../api/client';
import { tr } from '../../words/tr';

export type Values = Record<string, string>;

export interface Asked {
  key: string;
  label: string;
  placeholder?: string;
  hint?: string;
  /** What it holds when the form opens. */
  from?: () => string;
  optional?: true;
  /** Whether what was typed can be right; `wrong` says what is expected. */
  fits?: (v: string) => boolean;
  wrong?: string;
  type?: 'tel';
}

export interface Way {
  slug: string;
  label: string;
  hint: string;
  kind: Schemas['Channel']['kind'];
  /** Draws it, on a 24-px grid. */
  icon: string;
  /** The schemes of the services that are this way. */
  schemes: string[];
  /** An example of a name. */
  named: string;
  /** What to do where it comes from, in order. */
  steps: string[];
  fields: Asked[];
  /** The credential that the server stores, from values that fit. */
  url?: (v: Values) => string;
}

const chat = 'M4 5h16v11H10l-4.5 4v-4H4ZM8 9.5h8M8 12.5h5';
const phone = 'M7 3h10v18H7ZM11 18h2';
const handset = 'M6.5 3.5h3l1.5 4.5-2 1.5a11 11 0 0 0 5.5 5.5l1.5-2 4.5 1.5v3a2 2 0 0 1-2 2A15 15 0 0 1 4.5 5.5a2 2 0 0 1 2-2';
const bell = 'M6 16.5V11a6 6 0 0 1 12 0v5.5l1.5 2h-15l1.5-2ZM10 21.2h4';
const mail = 'M3.5 6h17v12h-17ZM3.5 7l8.5 6.5L20.5 7';
const siren = 'M7 18v-5a5 5 0 0 1 10 0v5M4.5 18h15v2.5h-15ZM12 3v2M4.5 6 6 7.5M19.5 6 18 7.5';
const program = 'M9 7l-5 5 5 5M15 7l5 5-5 5';

const slackHook = /^https:\/\/hooks\.slack\.com\/services\/(T\w+)\/(B\w+)\/(\w+)\/?$/;
const discordHook = /^https:\/\/(?:\w+\.)?discord(?:app)?\.com\/api\/webhooks\/(\d+)\/([\w-]+)\/?$/;
const workflow = /^https:\/\/[^/\s]+\/\S*workflows\/\S+[?&]sig=\S+$/;
const connector = /^https:\/\/([\w.-]+\.webhook\.office\.com)\/webhookb2\/([\da-f-]{36})@([\da-f-]{36})\/IncomingWebhook\/([\da-f]{32})\/([\da-f-]{36})\/([^/\s]+)\/?$/;
const botToken = /^(\d+):([\w-]{20,})$/;
const topicName = /^[-\w]{1,64}$/;
const bare = (number: string) => number.replace(/[\s()/.-]/g, '');
const telephone = /^\+[1-9]\d{6,14}$/;

const account = tr('Copy the account SID and the auth token from the first page of the Twilio console.');

/** numbers are the fields of an account at Twilio; `sends` judges whom it sends from. */
const numbers = (sends: (v: string) => boolean): Asked[] => [
  { key: 'sid', label: tr('Account SID'), placeholder: 'AC…', fits: (v) => /^AC[\da-f]{32}$/.test(v), wrong: tr('It begins with AC and has 34 characters') },
  { key: 'token', label: tr('Auth token'), fits: (v) => /^[\da-f]{32}$/.test(v), wrong: tr('It has 32 characters, 0 to 9 and a to f') },
  { key: 'from', label: tr('Number at Twilio'), placeholder: '+1 501 712 2661', type: 'tel', fits: sends, wrong: tr('With + and the country code') },
  { key: 'to', label: tr('Number to notify'), placeholder: '+1 555 867 5310', type: 'tel', fits: (v) => telephone.test(bare(v)), wrong: tr('With + and the country code') },
];
const twilio = (does: string, v: Values) => `twilio://${v['sid']}:${v['token']}@${does}?${new URLSearchParams({ from: bare(v['from']!), to: bare(v['to']!) })}`;

/** unguessable is a topic that nobody else reads. */
function unguessable(): string {
  const letters = crypto.getRandomValues(new Uint8Array(12));
  return `rimewatch-${Array.from(letters, (n) => 'abcdefghjkmnpqrstuvwxyz23456789'[n % 31]).join('')}`;
}

function ntfy(v: Values): string {
  const server = new URL(/:\/\//.test(v['server']!) ? v['server']! : `https://${v['server']}`);
  const token = v['token'] ? `:${encodeURIComponent(v['token'])}@` : '';
  return `ntfy://${token}${server.host}/${v['topic']}${server.protocol === 'http:' ? '?scheme=http' : ''}`;
}

function teams(v: Values): string {
  const old = connector.exec(v['hook']!);
  if (!old) return v['hook']!.replace('https://', 'teams://');
  const [, host, group, tenant, alt, owner, extra] = old;
  return `teams://${group}@${tenant}/${alt}/${owner}/${extra}?host=${host}`;
}

export const ways: Way[] = [
  {
    slug: 'email', label: tr('E-mail'), hint: tr('One or several addresses'), kind: 'email', icon: mail, schemes: [], named: tr('Night shift'), steps: [],
    fields: [{ key: 'to', label: tr('Addresses'), placeholder: tr('night@example.com, boss@example.com'), hint: tr('Separated by commas.') }],
  },
  {
    slug: 'sms', label: tr('Text message'), hint: tr('To a phone, through Twilio'), kind: 'service', icon: phone, schemes: ['twilio'], named: tr('Phone of the night shift'),
    steps: [tr('Create an account at twilio.com and buy a phone number there that can send text messages. Twilio bills each message.'), account],
    fields: numbers((v) => telephone.test(bare(v)) || /^MG[\da-f]{32}$/.test(v)),
    url: (v) => twilio('sms', v),
  },
  {
    slug: 'call', label: tr('Phone call'), hint: tr('Reads the alert aloud; press 1 to acknowledge'), kind: 'call', icon: handset, schemes: [], named: tr('Call to the night shift'),
    steps: [tr('Create an account at twilio.com and buy a phone number there that can make calls. Twilio bills each call.'), account],
    fields: numbers((v) => telephone.test(bare(v))),
    url: (v) => twilio('call', v),
  },
  {
    slug: 'ntfy', label: 'ntfy', hint: tr('A free app that rings on phones'), kind: 'service', icon: bell, schemes: ['ntfy'], named: tr('Phones in the kitchen'),
    steps: [
      tr('Install the app ntfy on each phone.'),
      tr('In the app, subscribe to the topic below. On a public server, anyone who knows its name can read along: use one that nobody can guess.'),
    ],
    fields: [
      { key: 'topic', label: tr('Topic'), from: unguessable, fits: (v) => topicName.test(v), wrong: tr('Letters, digits, - and _, at most 64') },
      { key: 'server', label: tr('Server'), from: () => 'https://ntfy.sh', fits: (v) => URL.canParse(/:\/\//.test(v) ? v : `https://${v}`), wrong: tr('An address such as https://ntfy.sh') },
      { key: 'token', label: tr('Access token (only if the topic is protected)'), placeholder: 'tk_…', optional: true },
    ],
    url: ntfy,
  },
  {
    slug: 'telegram', label: 'Telegram', hint: tr('By a bot of your own'), kind: 'service', icon: chat, schemes: ['telegram'], named: tr('Telegram of the kitchen'),
    steps: [
      tr('Write /newbot to @BotFather in Telegram, and copy the token that it answers with.'),
      tr('Add the bot to your group, or write it a message, so that it may write to you.'),
      tr('Open api.telegram.org/botTOKEN/getUpdates, with your token in place of TOKEN, and copy the id of the chat. That of a group begins with a minus.'),
    ],
    fields: [
      { key: 'token', label: tr('Token of the bot'), placeholder: '110201543:AA…', fits: (v) => botToken.test(v), wrong: tr('Digits, a colon and about 35 letters') },
      { key: 'chat', label: tr('Chat id'), placeholder: '-1001234567890', hint: tr('Or @name of a public channel.'), fits: (v) => /^(-?\d+|@\w+)$/.test(v), wrong: tr('A number, or @name of a public channel') },
    ],
    url: (v) => `telegram://${v['token']}@telegram?${new URLSearchParams({ chats: v['chat']! })}`,
  },
  {
    slug: 'slack', label: 'Slack', hint: tr('To one of its channels'), kind: 'service', icon: chat, schemes: ['slack'], named: tr('Slack #cold-chain'),
    steps: [
      tr('Open api.slack.com/apps, choose Create New App, From scratch, and your workspace.'),
      tr('Turn on Incoming Webhooks, choose Add New Webhook to Workspace, then the channel.'),
      tr('Copy the webhook URL.'),
    ],
    fields: [{ key: 'hook', label: tr('Webhook URL'), placeholder: 'https://hooks.slack.com/services/T…/B…/…', fits: (v) => slackHook.test(v), wrong: tr('It begins with {start}', { start: 'https://hooks.slack.com/services/' }) }],
    url: (v) => {
      const [, team, bot, secret] = slackHook.exec(v['hook']!)!;
      return `slack://hook:${team}-${bot}-${secret}@webhook`;
    },
  },
  {
    slug: 'teams', label: 'Microsoft Teams', hint: tr('To one of its channels'), kind: 'service', icon: chat, schemes: ['teams'], named: tr('Teams, cold chain'),
    steps: [
      tr('Open the menu ⋯ of the channel in Teams and choose Workflows.'),
      tr('Choose “Send webhook alerts to a channel” and add it.'),
      tr('Copy the URL that it shows.'),
    ],
    fields: [{ key: 'hook', label: tr('URL of the workflow'), placeholder: 'https://….logic.azure.com/workflows/…', fits: (v) => workflow.test(v) || connector.test(v), wrong: tr('It begins with https:// and has /workflows/ and sig= in it') }],
    url: teams,
  },
  {
    slug: 'discord', label: 'Discord', hint: tr('To one of its channels'), kind: 'service', icon: chat, schemes: ['discord'], named: 'Discord',
    steps: [tr('Open Edit Channel in Discord, then Integrations and Webhooks.'), tr('Choose New Webhook, then Copy Webhook URL.')],
    fields: [{ key: 'hook', label: tr('Webhook URL'), placeholder: 'https://discord.com/api/webhooks/…', fits: (v) => discordHook.test(v), wrong: tr('It begins with {start}', { start: 'https://discord.com/api/webhooks/' }) }],
    url: (v) => {
      const [, id, token] = discordHook.exec(v['hook']!)!;
      return `discord://${token}@${id}`;
    },
  },
  {
    slug: 'pagerduty', label: 'PagerDuty', hint: tr('An incident for each alert, closed when it is over'), kind: 'service', icon: siren, schemes: ['pagerduty'], named: tr('Technicians on call'),
    steps: [tr('Open the service in PagerDuty, then Integrations, Add an integration, Events API V2.'), tr('Copy its integration key.')],
    fields: [{ key: 'key', label: tr('Integration key'), fits: (v) => /^[\da-zA-Z]{32}$/.test(v), wrong: tr('It has 32 characters') }],
    url: (v) => `pagerduty:///${v['key']}`,
  },
  {
    slug: 'push', label: tr('Push notification'), hint: tr('To the phone or computer of a person'), kind: 'push', icon: phone, schemes: [], named: tr('Phone of the night shift'),
    steps: [tr('Whoever holds the device switches it on and off: Account, Notify me on this device.')], fields: [],
  },
  {
    slug: 'webhook', label: tr('Webhook'), hint: tr('Signed JSON to your own program'), kind: 'webhook', icon: program, schemes: [], named: tr('Ticket system'),
    steps: [tr('Alerts are sent as JSON (POST), signed as Standard Webhooks ask for. The secret to check the signature with is shown when you have added the channel.')],
    fields: [{ key: 'hook', label: 'URL', placeholder: 'https://example.com/hooks/rimewatch' }],
    url: (v) => v['hook']!,
  },
  {
    slug: 'other', label: tr('Something else'), hint: tr('Matrix, Gotify, Pushover, Signal, …'), kind: 'service', icon: 'M12 3.5v17M3.5 12h17', schemes: [], named: tr('Another service'),
    steps: [tr('Each service has its own form of URL. Look yours up at shoutrrr.nickfedor.com.')],
    fields: [{ key: 'hook', label: tr('Service URL'), placeholder: 'gotify://gotify.example.com/token' }],
    url: (v) => v['hook']!,
  },
];

/** wayOf finds the way that a stored channel is of. */
export function wayOf(c: Pick<Schemas['Channel'], 'kind' | 'url'>): Way {
  if (c.kind !== 'service') return ways.find((w) => w.kind === c.kind)!;
  const scheme = c.url?.split(':', 1)[0] ?? '';
  return ways.find((w) => w.schemes.includes(scheme)) ?? ways.find((w) => w.slug === 'other')!;
}

/** wrongs names the fields of a way that cannot be right, with what is expected. */
export function wrongs(w: Way, v: Values): Record<string, string> {
  const out: Record<string, string> = {};
  for (const f of w.fields) {
    const s = v[f.key]?.trim() ?? '';
    if (!s ? !f.optional : f.fits && !f.fits(s)) out[f.key] = s ? (f.wrong ?? '') : tr('Is needed');
  }
  return out;
}

/** settings is the part of a channel that the form asks for, from values that fit. */
export function settings(w: Way, v: Values): { to?: string[]; url?: string } {
  const trimmed = Object.fromEntries(Object.entries(v).map(([k, s]) => [k, s.trim()]));
  return w.url ? { url: w.url(trimmed) } : { to: trimmed['to']!.split(/[\s,;]+/).filter(Boolean) };
}
