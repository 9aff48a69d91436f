import { useState } from 'preact/hooks';
import { client } from '../../../data/client.js';
import type { Diagnosis } from '../../../data/diagnosis.js';
import { unknown } from '../../../util/format.js';
import { Field } from '../../../ui/basics.js';
import type { DialogProps } from './props.js';
import type { Session } from '../../../data/session/types.js';
import { FormDialog } from '../../../ui/form-dialog.js';

type Limit = 'max_rollouts' | 'max_cost_usd' | 'max_minutes' | 'generations' | 'num_trials';

interface LimitField {
  name: Limit;
  label: string;
  present: number | null;
  isWhole: boolean;
}

function limitsOf({ budget, algorithm, progress }: Session): LimitField[] {
  const steps: LimitField =
    algorithm === 'mipro'
      ? { name: 'num_trials', label: 'Trials', present: null, isWhole: true }
      : { name: 'generations', label: 'Generations', present: progress.total_generations, isWhole: true };
  return [
    { name: 'max_rollouts', label: 'Answers', present: budget.max_rollouts, isWhole: true },
    { name: 'max_cost_usd', label: 'Dollars', present: budget.max_cost_usd, isWhole: false },
    { name: 'max_minutes', label: 'Minutes', present: budget.max_minutes, isWhole: false },
    steps,
  ];
}

/** The totals that a diagnosis advises. */
export function extensionOf(diagnosis: Diagnosis | null | undefined): Partial<Record<Limit, string>> {
  const { limit, to } = diagnosis?.action ?? {};
  return limit ? { [limit]: String(to) } : {};
}

/** New totals for a session that has ended; `totals` are filled in. */
export function ExtendDialog({
  session,
  totals = {},
  onClose,
  onDone,
}: DialogProps & { totals?: Partial<Record<Limit, string>> }) {
  const [given, setGiven] = useState(totals);
  const [key, setKey] = useState('');
  const run = async () => {
    const limits = Object.entries(given).filter(([, text]) => text !== '');
    const body = Object.fromEntries(limits.map(([name, text]) => [name, Number(text)]));
    const path = { session_id: session.session_id };
    await client.value.request('extendSession', {
      path,
      body: key === '' ? body : { ...body, container_api_key: key },
    });
    await onDone();
  };
  return (
    <FormDialog title="Extend the session" submit="Go on" run={run} onClose={onClose}>
      {(errorOf) => (
        <>
          <p class="quiet">The search goes on from where it ended. Give new totals; an empty field keeps its limit.</p>
          <div class="field-grid">
            {limitsOf(session).map(({ name, label, present, isWhole }) => (
              <Field key={name} label={label} hint={`Now ${present ?? unknown}`} error={errorOf(`/${name}`)}>
                <input
                  type="number"
                  min={present ?? 0}
                  step={isWhole ? 1 : 'any'}
                  value={given[name] ?? ''}
                  onInput={(event) => setGiven({ ...given, [name]: event.currentTarget.value })}
                />
              </Field>
            ))}
          </div>
          {session.container_url !== null && (
            <Field
              label="API key of the container"
              hint="Only if the session was created with one; it was deleted at the end."
              error={errorOf('/container_api_key')}
            >
              <input
                type="password"
                autocomplete="off"
                value={key}
                onInput={(event) => setKey(event.currentTarget.value)}
              />
            </Field>
          )}
        </>
      )}
    </FormDialog>
  );
}
