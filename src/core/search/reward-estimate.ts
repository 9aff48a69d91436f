/** An expected mean reward with its 95 % interval. */
export interface RewardEstimate {
  mean: number;
  low: number;
  high: number;
}
