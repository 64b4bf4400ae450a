// The icons that neither the frame nor the overview has.
export const more = {
  edit: 'M4 20l1-4.5L15.8 4.7a1.8 1.8 0 0 1 2.6 0l.9.9a1.8 1.8 0 0 1 0 2.6L8.5 19 4 20ZM13.5 7l3.5 3.5',
  download: 'M12 3.5v11.5M7 10.5l5 5 5-5M4 20h16',
  trash: 'M4 7h16M9 7V4h6v3M6.5 7l1 13.5h9l1-13.5M10 11v6M14 11v6',
  copy: 'M8.5 8.5H20V20H8.5zM15.5 8.5V4H4v11.5h4.5',
  full: 'M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5',
  calendar: 'M4 6h16v14H4zM4 10.5h16M8.5 3.5V8M15.5 3.5V8',
  wrench: 'M14.5 6.5a4.5 4.5 0 0 1 5.8-1.3l-3 3 .5 2.5 2.5.5 .5-.5a4.5 4.5 0 0 1-6.3 4.3L8 21.5 3.5 17l6.5-6.5a4.5 4.5 0 0 1 4.5-4Z',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8ZM12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M18.7 5.3l-1.4 1.4M6.7 17.3l-1.4 1.4',
  moon: 'M20 14.3A8.3 8.3 0 0 1 9.7 4 8.3 8.3 0 1 0 20 14.3Z',
  leave: 'M14 4H5v16h9M10 12h11M17 8l4 4-4 4',
} as const;
