// Types of events in words, those of a resource together.
import { tr } from '../../words/tr';

export const eventTypes = [
  { value: 'alert.opened', label: tr('An alert opens') },
  { value: 'alert.escalated', label: tr('A warning becomes critical') },
  { value: 'alert.deescalated', label: tr('A critical alert becomes a warning') },
  { value: 'alert.acknowledged', label: tr('An alert is acknowledged') },
  { value: 'alert.acknowledgement_expired', label: tr('An acknowledgement expires') },
  { value: 'alert.noted', label: tr('A note is written') },
  { value: 'alert.suppressed', label: tr('Another alert explains one') },
  { value: 'alert.released', label: tr('An alert stands on its own again') },
  { value: 'alert.feedback', label: tr('A prediction is answered') },
  { value: 'alert.resolved', label: tr('An alert is resolved') },
  { value: 'device.created', label: tr('A device is added') },
  { value: 'device.updated', label: tr('A device is changed') },
  { value: 'device.deleted', label: tr('A device is removed') },
  { value: 'device.online', label: tr('A device comes online') },
  { value: 'device.offline', label: tr('A device goes offline') },
  { value: 'excursion.opened', label: tr('An excursion begins') },
  { value: 'excursion.closed', label: tr('An excursion ends') },
  { value: 'excursion.corrected', label: tr('An excursion is corrected by late readings') },
  { value: 'source.sender_waiting', label: tr('An unknown sender waits') },
  { value: 'token.created', label: tr('An API token is created') },
  { value: 'token.revoked', label: tr('An API token is revoked') },
  { value: 'reading.batch', label: tr('The newest readings, every ten seconds at most') },
] as const satisfies readonly { value: string; label: string }[];
