// How long a device may keep silent, in words.
import type { DeviceDetail } from '../api/client';
import { duration } from './format';
import { tr } from './tr';

type Silent = Pick<DeviceDetail, 'offline_after_s' | 'silence'>;

/** silenceOf says after what silence a device is offline, and why. */
export function silenceOf(d: Silent): string {
  const { by, usually_s: usually, alarm_delay_s: alarm } = d.silence;
  const after = duration(d.offline_after_s * 1000);
  const why: Record<string, string> = {
    declared: tr('as set'),
    kind: tr('as usual for senders of this kind'),
    learned: usually ? tr('it usually reports within {span}', { span: duration(usually * 1000) }) : '',
    alarm_delay: tr('when it would alert if it were too warm'),
  };
  const late = alarm > 0 && d.offline_after_s > alarm ? tr('later than it alerts when too warm: {span}', { span: duration(alarm * 1000) }) : '';
  return [after, why[by], late].filter(Boolean).join('; ');
}

/** offerOf asks whether silence may be noticed later than too warm goods, '' when there is nothing to decide. */
export function offerOf(d: Silent): string {
  const { offered_s: offered, usually_s: usually } = d.silence;
  if (!offered) return '';
  return tr('Reports every {usual}: you would hear of silence after {offered}. Until you accept that, it counts as offline after {now}.', {
    usual: duration(usually * 1000),
    offered: duration(offered * 1000),
    now: duration(d.offline_after_s * 1000),
  });
}
