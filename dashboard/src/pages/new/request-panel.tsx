import { Copy } from '../../ui/copy.js';
import { isJson } from '../../ui/scorer/draft.js';
import { change, draft } from './form/store.js';

/** The request as JSON, for experts. Once it is edited, the other fields have no effect. */
export function RequestPanel({ request }: { request: string | null }) {
  const { json } = draft.value;
  const text = json ?? request ?? '';
  return (
    <details class="panel form-more" open={json !== null}>
      <summary>
        <h2>Request as JSON</h2>
      </summary>
      {json !== null && <p class="note">This request is edited, so the fields above have no effect.</p>}
      <textarea
        rows={18}
        spellcheck={false}
        aria-label="Request as JSON"
        placeholder="The request appears here once the form is complete."
        value={text}
        onInput={(event) => change({ json: event.currentTarget.value })}
      />
      {json !== null && !isJson(json) && (
        <p class="field-error" role="alert">
          The request is not valid JSON.
        </p>
      )}
      <div class="actions">
        <Copy text={text} label="Copy" />
        {json !== null && (
          <button type="button" class="button button-small" onClick={() => change({ json: null })}>
            Back to the form
          </button>
        )}
      </div>
    </details>
  );
}
