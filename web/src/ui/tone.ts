// The classes of each condition, written out so that Tailwind finds them.
import type { Condition } from '../words/condition';

export const textTone: Record<Condition, string> = {
  critical: 'text-critical', warning: 'text-warn', predicted: 'text-predicted', offline: 'text-offline', unjudged: 'text-offline', ok: 'text-ok',
};

export const softTone: Record<Condition, string> = {
  critical: 'bg-critical-soft text-critical', warning: 'bg-warn-soft text-warn', predicted: 'bg-predicted-soft text-predicted',
  offline: 'bg-offline-soft text-offline', unjudged: 'bg-offline-soft text-offline', ok: 'bg-ok-soft text-ok',
};

export const fillTone: Record<Condition, string> = {
  critical: 'bg-critical-fill', warning: 'bg-warn-fill', predicted: 'bg-predicted-fill', offline: 'bg-offline-fill', unjudged: 'bg-offline-fill', ok: 'bg-ok-fill',
};

export const svgTone: Record<Condition, string> = {
  critical: 'fill-critical-fill', warning: 'fill-warn-fill', predicted: 'fill-predicted-fill', offline: 'fill-offline-fill', unjudged: 'fill-offline-fill', ok: 'fill-ok-fill',
};
