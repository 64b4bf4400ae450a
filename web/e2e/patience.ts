/** How long anything may take before a test gives up, ms. It is the limit for a
 * machine that is busy with other work; nothing is measured against it. */
export const patience = 120_000;
