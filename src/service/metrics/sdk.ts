import type { BufferedMetricUpdate, MetricsBuffer } from '@temporalio/worker';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { MetricValues } from './values.js';
import { limitedValues } from './labels.js';

/** The SDK has one runtime in a process, and so one set of metrics. */
const registry = new Registry();
const registers = [registry];
/** Of the SDK's labels; namespace and task queue are those of the installation. */
const shownLabels = [
  'operation',
  'status_code',
  'worker_type',
  'poller_type',
  'workflow_type',
  'activity_type',
  'failure_reason',
] as const;
/** Anybody may start a workflow of another type. */
const maxValues = 100;
const secondsBuckets = [0.005, 0.02, 0.1, 0.5, 2, 10, 60];
/** The buffer must not overflow meanwhile. */
const everyMs = 1_000;

type Labels = Partial<Record<(typeof shownLabels)[number], string>>;
type Recorder = (value: number, labels: Labels) => void;

const recorders = new Map<string, Recorder>();
const limits = new Map(shownLabels.map((label) => [label, limitedValues(maxValues)]));
let read = (): void => undefined;

/** Collects what the SDK buffers. Call it once. */
export function collectSdkMetrics(buffer: Pick<MetricsBuffer, 'retrieveUpdates'>): void {
  read = () => {
    for (const update of buffer.retrieveUpdates()) record(update);
  };
  setInterval(read, everyMs).unref();
}

/** The SDK's metrics of this process; none without a worker. */
export function sdkMetrics(): Promise<MetricValues> {
  read();
  return registry.getMetricsAsJSON();
}

function record({ metric, value, attributes }: BufferedMetricUpdate): void {
  const labels: Labels = {};
  for (const [label, limited] of limits) {
    const given = attributes[label];
    if (given !== undefined) labels[label] = limited(String(given));
  }
  const recorder = recorders.get(metric.name) ?? createRecorder(metric);
  recorders.set(metric.name, recorder);
  recorder(value, labels);
}

/** By the naming conventions of Prometheus, which the SDK follows on request. */
function createRecorder({ kind, name, description, unit }: BufferedMetricUpdate['metric']): Recorder {
  const settings = { registers, labelNames: shownLabels, help: description ?? name };
  switch (kind) {
    case 'counter': {
      const counter = new Counter({ ...settings, name: `${name}_total` });
      return (value, labels) => counter.inc(labels, value);
    }
    case 'histogram': {
      const suffix = unit === 's' ? '_seconds' : '';
      const histogram = new Histogram({ ...settings, name: `${name}${suffix}`, buckets: secondsBuckets });
      return (value, labels) => histogram.observe(labels, value);
    }
    case 'up-down-counter': {
      const gauge = new Gauge({ ...settings, name });
      return (value, labels) => gauge.inc(labels, value);
    }
    case 'gauge': {
      const gauge = new Gauge({ ...settings, name });
      return (value, labels) => gauge.set(labels, value);
    }
  }
}
