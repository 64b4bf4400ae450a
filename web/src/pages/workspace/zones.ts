// The IANA time zones that the browser knows, for completing a name.
export const zones: string[] = typeof Intl.supportedValuesOf === 'function' ? ['UTC', ...Intl.supportedValuesOf('timeZone')] : ['UTC'];
