import { useState } from 'preact/hooks';
import { componentNames } from '../../../../../src/core/prompts/components.js';
import { client } from '../../../data/client.js';
import { useResource } from '../../../data/resource.js';
import { ActionButton, Empty, Field, Loading, Problem } from '../../../ui/basics.js';
import { Choice } from '../../../ui/choice.js';
import { Dialog } from '../../../ui/dialog.js';
import { evaluateEdited } from '../../new/form/original.js';
import type { DialogProps } from './props.js';
import type { CandidateDetail, Session } from '../../../data/session/types.js';
import { FormDialog } from '../../../ui/form-dialog.js';

type Source = 'baseline' | 'best';
type Messages = NonNullable<CandidateDetail['messages']>;

const idOf = ({ lever_summary: levers }: Session, source: Source): string | null =>
  source === 'best' ? levers.best_candidate_id : levers.baseline_candidate_id;

/** A prompt of the reader's own, tried as a candidate of the running search. */
export function SuggestDialog(props: DialogProps) {
  const { session, onClose } = props;
  const [source, setSource] = useState<Source>('baseline');
  // Those of the start: a new best must not replace a prompt that is being written.
  const [ids] = useState({ baseline: idOf(session, 'baseline'), best: idOf(session, 'best') });
  const candidateId = ids[source];
  const { data, error } = useResource(`suggest ${candidateId}`, async (signal) =>
    candidateId === null ? null : client.value.sessions.handle(session.session_id).candidate(candidateId, { signal }),
  );
  if (data?.messages)
    return <SuggestForm {...props} source={source} onSource={setSource} messages={data.messages} key={source} />;
  return (
    <Dialog title="Try my prompt" onClose={onClose}>
      <Problem error={error} />
      {data === undefined && !error && <Loading />}
      {data !== undefined && <Empty>The baseline prompt is not known yet.</Empty>}
    </Dialog>
  );
}

function SuggestForm(props: DialogProps & { source: Source; onSource: (source: Source) => void; messages: Messages }) {
  const { session, onDone, onClose, source, onSource, messages } = props;
  const [texts, setTexts] = useState(messages.map(({ content }) => content));
  const names = componentNames(messages);
  const options = idOf(session, 'best') === null ? { baseline: 'Baseline' } : { baseline: 'Baseline', best: 'Best' };
  const given = messages.map((message, n) => ({ ...message, content: texts[n]! }));
  const evaluate = () => evaluateEdited(session.session_id, source === 'best' ? idOf(session, source) : null, given);
  const more = session.dataset && <ActionButton run={evaluate}>Evaluate on …</ActionButton>;
  const run = async () => {
    const path = { session_id: session.session_id };
    await client.value.request('suggestSessionCandidate', { path, body: { messages: given } });
    await onDone();
  };
  return (
    <FormDialog title="Try my prompt" submit="Try it" run={run} onClose={onClose} more={more} wide>
      {(errorOf) => (
        <>
          <p class="quiet">
            It becomes a candidate and is tested as a proposal is. Keep the placeholders; it costs answers of the
            budget.
          </p>
          <p class="bar">
            Start from <Choice label="Start from" value={source} options={options} onChange={onSource} />
          </p>
          {names.map((name, n) => (
            <Field key={name} label={name} error={errorOf(`/messages/${n}`)}>
              <textarea
                dir="auto"
                rows={Math.min(16, Math.max(3, texts[n]!.split('\n').length + 1))}
                maxLength={100_000}
                value={texts[n]}
                onInput={({ currentTarget }) =>
                  setTexts(texts.map((text, other) => (other === n ? currentTarget.value : text)))
                }
              />
            </Field>
          ))}
        </>
      )}
    </FormDialog>
  );
}
