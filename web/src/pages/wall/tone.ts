// The classes of a tile by its condition, written out so that Tailwind finds them.
import type { Condition } from '../../words/condition';

export const softBorder: Record<Condition, string> = {
  critical: 'bg-critical-soft border-critical-fill',
  warning: 'bg-warn-soft border-warn-fill',
  predicted: 'bg-predicted-soft border-predicted-fill',
  offline: 'bg-offline-soft border-offline-fill',
  unjudged: 'bg-offline-soft border-offline-fill border-dashed',
  ok: 'bg-card border-line',
};
