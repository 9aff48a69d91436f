import type { WorkflowInterceptors } from '@temporalio/workflow';
import { getActivator } from '@temporalio/workflow/lib/global-attributes.js';

/** What an operator did to this workflow that the SDK does not tell workflow code. */
export const outside = {
  /** Resets of this run so far. */
  resets: 0,
  /** Names of signals that the SDK reserves; it would fail the workflow task. */
  reservedSignals: [] as string[],
};

const reservedPrefix = '__temporal_';

/** Observes activations. Each follows from the history alone, so a replay observes the same. */
export function interceptors(): WorkflowInterceptors {
  // A reset reseeds the randomness of its run. Use a public sign of resets when the SDK has one.
  let { random } = getActivator();
  return {
    internals: [
      {
        activate(input, next) {
          const { activation } = input;
          if (getActivator().random !== random) outside.resets += 1;
          ({ random } = getActivator());
          activation.jobs = (activation.jobs ?? []).filter(({ signalWorkflow }) => {
            const name = signalWorkflow?.signalName ?? '';
            if (!name.startsWith(reservedPrefix)) return true;
            outside.reservedSignals.push(name);
            return false;
          });
          next(input);
        },
      },
    ],
  };
}
