import { AggregatorRegistry } from 'prom-client';
import type { MetricValues } from './values.js';

/** The metrics of several processes as one, in Prometheus text format. */
export async function mergeMetrics(processes: readonly (() => Promise<MetricValues>)[]): Promise<string> {
  const values = await Promise.all(processes.map((valuesOf) => valuesOf()));
  return AggregatorRegistry.aggregate(values).metrics();
}
