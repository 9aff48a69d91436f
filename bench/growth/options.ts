/** `minutes` of crowd for the slope of memory; numbers of `rollouts` stored, ascending. */
export interface GrowthOptions {
  minutes: number;
  rollouts: readonly number[];
}
