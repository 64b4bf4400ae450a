// Made by scripts/languages.mjs of the catalogues.
declare module 'virtual:languages' {
  interface Part {
    default: import('./words/tr').Texts;
  }
  /** named is the name that a text has in the parts of a catalogue. */
  export const named: (text: string) => string;
  export const languages: { tag: string; name: string; decimal: string; first: () => Promise<Part>; rest: () => Promise<Part> | undefined }[];
}
