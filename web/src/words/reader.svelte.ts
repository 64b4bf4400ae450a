// How the signed-in person reads numbers and times: what formats follow.
class Reader {
  units = $state<'c' | 'f'>('c');
  clock = $state<'24h' | '12h'>('24h');
  dates = $state<'dmy' | 'mdy' | 'ymd'>('dmy');

  adopt(person: Pick<Reader, 'units' | 'clock' | 'dates'>) {
    this.units = person.units;
    this.clock = person.clock;
    this.dates = person.dates;
  }
}

export const reader = new Reader();
