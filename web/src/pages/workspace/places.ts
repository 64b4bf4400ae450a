// The pages of the settings: who may see which, in which group each stands, and by what words it is found.
import type { Role } from '../../session.svelte';
import { tr } from '../../words/tr';

export interface Place {
  slug: string;
  label: string;
  role: Role;
  /** Other words that people look for it by. */
  also: string;
}

export const groups: { title: string; places: Place[] }[] = [
  {
    title: tr('Equipment'),
    places: [
      { slug: 'devices', label: tr('Devices'), role: 'technician', also: tr('add, retire, import CSV, labels, refrigerators, freezers') },
      { slug: 'sensors', label: tr('Sensors'), role: 'technician', also: tr('batteries, signal, firmware') },
      { slug: 'sources', label: tr('Sources'), role: 'admin', also: tr('gateways, keys, webhooks of sensors, unknown senders') },
      { slug: 'sites', label: tr('Sites'), role: 'admin', also: tr('shops, addresses, time zones, contacts, service firm, status links') },
      { slug: 'limits', label: tr('Limits'), role: 'admin', also: tr('temperatures, alarm delay, thresholds, types of equipment') },
      { slug: 'rounds', label: tr('Rounds'), role: 'admin', also: tr('checks, HACCP, vaccines, twice a day, temperatures by hand') },
      { slug: 'predictions', label: tr('Predictions'), role: 'technician', also: tr('faults, feedback, how often they were right') },
    ],
  },
  {
    title: tr('People and alerts'),
    places: [
      { slug: 'members', label: tr('Members'), role: 'admin', also: tr('invite, roles, remove, people, passwords, second factor') },
      { slug: 'notifications', label: tr('Notifications'), role: 'admin', also: tr('channels, routes, rotas, on duty, e-mail, text message, phone call, push') },
      { slug: 'quiet', label: tr('Silences and maintenance'), role: 'technician', also: tr('mute, planned work, deliveries') },
    ],
  },
  { title: tr('Programs'), places: [{ slug: 'webhooks', label: tr('Webhooks'), role: 'admin', also: tr('events, integrations') }] },
  {
    title: tr('Workspace'),
    places: [
      { slug: 'general', label: tr('General'), role: 'admin', also: tr('name, address, time zone, retention, export, delete the workspace') },
      { slug: 'audit', label: tr('Audit log'), role: 'admin', also: tr('who changed what, history') },
    ],
  },
];
