// Sheets of labels to print, and the code on each.
import { encode } from 'uqr';
import { tr } from '../../words/tr';

export interface Sheet {
  slug: string;
  label: string;
  /** American paper; else A4. */
  letter?: true;
  columns: number;
  rows: number;
  /** Of one label and of the margins before the first one, mm. */
  width: number;
  height: number;
  left: number;
  top: number;
  /** Between two columns, mm. */
  gap: number;
}

export const sheets: Sheet[] = [
  { slug: 'a4-24', label: tr('A4, 24 labels of 70 × 37 mm'), columns: 3, rows: 8, width: 70, height: 37, left: 0, top: 0.5, gap: 0 },
  { slug: 'a4-8', label: tr('A4, 8 labels of 105 × 74 mm'), columns: 2, rows: 4, width: 105, height: 74, left: 0, top: 0.5, gap: 0 },
  { slug: 'letter-30', label: tr('Letter, 30 labels of 2⅝ × 1 in'), letter: true, columns: 3, rows: 10, width: 66.7, height: 25.4, left: 4.8, top: 12.7, gap: 3.2 },
];

/** split puts labels on sheets. */
export function split<T>(list: T[], of: Pick<Sheet, 'columns' | 'rows'>): T[][] {
  const each = of.columns * of.rows;
  return Array.from({ length: Math.ceil(list.length / each) }, (_, i) => list.slice(i * each, (i + 1) * each));
}

/** code is a text as a QR code: the number of modules of a side, and a path that
 * draws the dark ones on a grid of as many units. A quarter of it may be dirty. */
export function code(text: string): { size: number; path: string } {
  const { size, data } = encode(text, { ecc: 'Q', border: 0 });
  let path = '';
  data.forEach((row, y) => {
    for (let x = 0; x < size; x++) {
      if (!row[x]) continue;
      const from = x;
      while (x + 1 < size && row[x + 1]) x++;
      path += `M${from} ${y}h${x + 1 - from}v1H${from}z`;
    }
  });
  return { size, path };
}
