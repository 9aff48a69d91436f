import { Field, Panel } from '../../ui/basics.js';
import { MarkedText } from '../../ui/changes/marked.js';
import { Fold } from '../../ui/fold.js';
import { count, dollars } from '../../util/format.js';
import { pageOf } from '../../util/router.js';
import { labelOf, valueText } from '../../util/request-words.js';
import { changesBetween, draftOf, hiddenFields, type Body, type FieldChange } from './form/from-request.js';
import { detach, isOfKind, original, secrets, type Original } from './form/original.js';
import { draft } from './form/store.js';

/** What the form began with, and how its request differs. `request`: undefined if not valid. */
export function OriginalPanel({ request }: { request: Body | undefined }) {
  const from = original.value;
  if (!from) return null;
  const { title, id, candidateId, source, last, warnings, omitted } = from;
  const isSameKind = isOfKind(from, draft.value);
  const changes = request && source && isSameKind ? changesBetween(source.request, request) : null;
  return (
    <Panel title="Original">
      <p>
        <a href={pageOf(id, { candidate: candidateId })} dir="auto">
          {title}
        </a>
      </p>
      {last && <p class="quiet">{lastWords(last)}</p>}
      {warnings.map((warning) => (
        <p key={warning} class="note">
          {warning}
        </p>
      ))}
      {!isSameKind && (
        <p class="note">
          This is another kind of run: only what the form shows is sent, and nothing else of the original.
        </p>
      )}
      {changes && <Changes changes={changes} />}
      {source && isSameKind && draft.value.json === null && <Hidden fields={hiddenFields(source)} />}
      {from.purpose === 'again' && isSameKind && omitted.map((pointer) => <Secret key={pointer} pointer={pointer} />)}
      {source && isSameKind && (
        <div class="actions">
          {changes?.length !== 0 && (
            <button type="button" class="button button-small" onClick={() => (draft.value = draftOf(source))}>
              Undo the changes
            </button>
          )}
          {source.kind !== 'graph' && (
            <button type="button" class="button button-small" onClick={detach}>
              Forget the original
            </button>
          )}
        </div>
      )}
    </Panel>
  );
}

function lastWords({ costUsd, rollouts }: NonNullable<Original['last']>): string {
  const cost = costUsd === null ? 'an unknown cost' : dollars(costUsd);
  return `Last time ${cost}, ${count(rollouts)} answers.`;
}

function Changes({ changes }: { changes: FieldChange[] }) {
  if (changes.length === 0) return <p class="quiet">Nothing is changed.</p>;
  return (
    <ul class="field-changes" aria-label="Changed fields">
      {changes.map((change) => (
        <li key={change.pointer} title={change.pointer}>
          <Change {...change} />
        </li>
      ))}
    </ul>
  );
}

const longest = 40;
const mostOpened = 2_000;

function Change({ pointer, before, after }: FieldChange) {
  const [old, now] = [valueText(pointer, before), valueText(pointer, after)];
  if (old.length > longest || now.length > longest)
    return (
      <Fold summary={labelOf(pointer)} isOpen={old.length + now.length < mostOpened}>
        {() => <MarkedText before={before === undefined ? '' : old} after={after === undefined ? '' : now} />}
      </Fold>
    );
  return (
    <>
      {labelOf(pointer)}: <del>{old}</del> <ins>{now}</ins>
    </>
  );
}

/** Fields that stay as they were, and that only the JSON shows. */
function Hidden({ fields }: { fields: FieldChange[] }) {
  if (fields.length === 0) return null;
  return (
    <Fold summary={`${fields.length} fields stay as they were`}>
      {() => (
        <ul class="field-changes" aria-label="Fields that stay">
          {fields.map(({ pointer, after }) => (
            <li key={pointer} title={pointer}>
              {labelOf(pointer)}: {valueText(pointer, after)}
            </li>
          ))}
          <li class="quiet">The request as JSON changes them.</li>
        </ul>
      )}
    </Fold>
  );
}

/** A field that the service keeps for itself. */
function Secret({ pointer }: { pointer: string }) {
  const isKey = pointer.endsWith('_api_key');
  return (
    <Field
      label={`${labelOf(pointer)} (never shown)`}
      hint={isKey ? 'Empty: that of the original, as long as it runs and the container stays.' : 'Empty: none.'}
    >
      <input
        type="password"
        autocomplete="off"
        value={secrets.value[pointer] ?? ''}
        onInput={(event) => (secrets.value = { ...secrets.value, [pointer]: event.currentTarget.value })}
      />
    </Field>
  );
}
