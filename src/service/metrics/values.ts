import type { MetricObjectWithValues, MetricValue } from 'prom-client';

/** The metrics of a process, as messages between processes carry them. */
export type MetricValues = MetricObjectWithValues<MetricValue<string>>[];
