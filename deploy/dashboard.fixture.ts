import type { Dashboard, FieldConfig, Panel, RowPanel } from '@grafana/grafana-foundation-sdk/dashboard';
import type { Dataquery } from '@grafana/grafana-foundation-sdk/prometheus';
import type { Options as StatOptions } from '@grafana/grafana-foundation-sdk/stat';
import type {
  FieldConfig as SeriesField,
  Options as SeriesOptions,
} from '@grafana/grafana-foundation-sdk/timeseries';

/** A type of Grafana's as it stands in a file: enumerations by their values, no methods. */
type Written<T> = T extends string
  ? `${T}`
  : T extends readonly (infer Item)[]
    ? Written<Item>[]
    : T extends object
      ? { [Key in keyof T as Key extends `_${string}` ? never : Key]: Written<T[Key]> }
      : T;
type Partly<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { [Key in keyof T]?: Partly<T[Key]> }
    : T;

/** Options that are left out have the default of their panel. */
type PanelOf<Type extends string, Options, Custom> = Written<
  Omit<Panel, 'targets' | 'options' | 'fieldConfig' | 'type'>
> & {
  type: Type;
  targets: Written<Dataquery>[];
  options: Partly<Written<Options>>;
  fieldConfig: {
    defaults: Written<Omit<FieldConfig, 'custom'>> & { custom?: Written<Custom> };
    overrides: Written<NonNullable<Panel['fieldConfig']>['overrides']>;
  };
};

export type DashboardFile = Written<Omit<Dashboard, 'panels'>> & {
  panels: (
    | Written<RowPanel>
    | PanelOf<'stat', StatOptions, never>
    | PanelOf<'timeseries', SeriesOptions, SeriesField>
  )[];
};
