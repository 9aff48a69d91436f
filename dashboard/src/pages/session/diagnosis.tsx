import { useState } from 'preact/hooks';
import type { Diagnosis } from '../../data/diagnosis.js';
import type { Results, Session } from '../../data/session/types.js';
import { here, link } from '../../util/router.js';
import { ActionButton } from '../../ui/basics.js';
import { DiagnosisPanel } from '../job/diagnosis-panel.js';
import type { PromptMessage } from '../new/form/draft.js';
import { newRunFrom } from '../new/form/from-run.js';
import { isRepeated } from '../search/verdict.js';
import { actionsOf, primaryOf } from './admitted.js';
import { ExtendDialog, extensionOf } from './dialogs/extend.js';

interface Props {
  session: Session;
  results: Results | undefined;
  onDone: () => Promise<unknown>;
}

/** What happened in a session, with a button for what to do now. */
export function SessionDiagnosis({ session, results, onDone }: Props) {
  const [isExtending, setExtending] = useState(false);
  const { diagnosis } = results ?? {};
  const action = diagnosis?.action;
  return (
    <>
      <DiagnosisPanel
        jobId={session.job_id}
        diagnosis={diagnosis}
        hasFacts={results !== undefined && !isRepeated(results)}
        button={action && buttonOf({ action, session, results: results!, extend: () => setExtending(true) })}
      />
      {isExtending && (
        <ExtendDialog
          session={session}
          totals={extensionOf(diagnosis)}
          onDone={onDone}
          onClose={() => setExtending(false)}
        />
      )}
    </>
  );
}

/** Undefined: the form of new runs has no such run. One button of the page is the primary one. */
function buttonOf(of: {
  action: NonNullable<Diagnosis['action']>;
  session: Session;
  results: Results;
  extend: () => void;
}) {
  const { action, session, results, extend } = of;
  const { kind, label, prompt_addition: addition } = action;
  const look = primaryOf(session, results) === null ? 'primary' : 'plain';
  switch (kind) {
    case 'extend':
      return actionsOf(session).has('extend') ? (
        <button type="button" class="button" onClick={extend}>
          {label}
        </button>
      ) : undefined;
    case 'deploy':
      return (
        <a class="button" href={link(['deployments'], { source: session.session_id })}>
          {label}
        </a>
      );
    case 'read_rows':
      return (
        <a class={`button button-${look}`} href={here({ tab: 'rows', group: 'failing' })}>
          {label}
        </a>
      );
    case 'new_run':
    case 'more_rows': {
      if (!session.dataset) return undefined;
      const messages = (results.best_prompt?.messages ?? []) as PromptMessage[];
      return (
        <ActionButton kind={look} run={() => newRunFrom('session', session, messages, addition)}>
          {label}
        </ActionButton>
      );
    }
  }
}
