// Made by scripts/languages.mjs of the catalogues.
declare module 'virtual:languages' {
  interface Part {
    default: import('./words/tr').Texts;
  }
  export const languages: { tag: string; name: string; decimal: string; first: () => Promise<Part>; rest: () => Promise<Part> | undefined }[];
}
