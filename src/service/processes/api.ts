import type { Service } from '../main.js';
import { metricsQuestion, type MetricsAnswer } from '../metrics/asked.js';

/** What an API process tells its parent once it listens. */
export interface StartedApi {
  url: string;
  temporalUi: string | null;
}

/** By which the parent stops an API process. */
export const stopMessage = 'stop';

/** Signals of a terminal or a supervisor reach parent and children; the parent alone acts. */
export const signalsOfParent: ('SIGHUP' | 'SIGINT' | 'SIGQUIT' | 'SIGTERM')[] = [
  'SIGHUP',
  'SIGINT',
  'SIGQUIT',
  'SIGTERM',
];

/** In one of several API processes: reports to the parent, and stops when that says so. */
export function joinParent(service: Service, close: () => void): void {
  process.on('message', (message) => {
    if (message === stopMessage) close();
    if (message === metricsQuestion)
      void service.metrics().then((metrics) => process.send!({ metrics } satisfies MetricsAnswer));
  });
  process.send!({ url: service.url!, temporalUi: service.temporalUi } satisfies StartedApi);
}
