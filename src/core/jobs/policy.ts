/** A model and additional request fields (`params`, such as temperature). */
export interface PolicySpec {
  provider: string;
  model: string;
  params: Record<string, unknown>;
}
