// The time zones that the browser knows.

/** zones are the names of all, for completing one. */
export const zones: string[] = typeof Intl.supportedValuesOf === 'function' ? ['UTC', ...Intl.supportedValuesOf('timeZone')] : ['UTC'];

/** ownZone is that of the device that the page is open on. */
export const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';
