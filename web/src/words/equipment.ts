// Short names of equipment, for tiles and lines; choices show the long ones.
import { humanised } from './format';
import { tr } from './tr';

const short: Record<string, string> = {
  reach_in_freezer: tr('Reach-in freezer'),
  prep_table: tr('Prep table'),
  display_case_open: tr('Open multideck'),
  display_case_closed: tr('Glass-door case'),
  display_case_freezer: tr('Frozen display case'),
  service_counter: tr('Serve-over counter'),
  beverage_cooler: tr('Bottle cooler'),
  ice_cream_cabinet: tr('Ice-cream cabinet'),
  blast_chiller: tr('Blast chiller'),
  blast_freezer: tr('Blast freezer'),
  ice_machine: tr('Ice machine'),
  milk_cooler: tr('Milk cooler'),
  wine_cooler: tr('Wine cabinet'),
  produce_cooler: tr('Produce room'),
  meat_cooler: tr('Meat cooler'),
  vaccine_refrigerator: tr('Vaccine refrigerator'),
  vaccine_freezer: tr('Vaccine freezer'),
  lab_freezer: tr('Laboratory freezer'),
  ult_freezer: tr('Ultra-low freezer'),
  reefer_container: tr('Refrigerated container'),
  reefer_truck: tr('Delivery van'),
  cold_storage: tr('Cold store'),
  condensing_unit: tr('Compressor'),
};

/** equipmentName is the short name of a type; label is the catalogue's, where it has one. */
export function equipmentName(slug: string, label?: string): string {
  return short[slug] ?? label ?? humanised(slug);
}
