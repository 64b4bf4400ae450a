// Short names of equipment, for tiles and lines; choices show the long ones.
import { humanised } from './format';

const short: Record<string, string> = {
  reach_in_freezer: 'Reach-in freezer',
  prep_table: 'Prep table',
  display_case_open: 'Open multideck',
  display_case_closed: 'Glass-door case',
  display_case_freezer: 'Frozen display case',
  service_counter: 'Serve-over counter',
  beverage_cooler: 'Bottle cooler',
  ice_cream_cabinet: 'Ice-cream cabinet',
  blast_chiller: 'Blast chiller',
  blast_freezer: 'Blast freezer',
  ice_machine: 'Ice machine',
  milk_cooler: 'Milk cooler',
  wine_cooler: 'Wine cabinet',
  produce_cooler: 'Produce room',
  meat_cooler: 'Meat cooler',
  vaccine_refrigerator: 'Vaccine refrigerator',
  vaccine_freezer: 'Vaccine freezer',
  lab_freezer: 'Laboratory freezer',
  ult_freezer: 'Ultra-low freezer',
  reefer_container: 'Refrigerated container',
  reefer_truck: 'Delivery van',
  cold_storage: 'Cold store',
  condensing_unit: 'Compressor',
};

/** equipmentName is the short name of a type; label is the catalogue's, where it has one. */
export function equipmentName(slug: string, label?: string): string {
  return short[slug] ?? label ?? humanised(slug);
}
