import { useState } from 'preact/hooks';
import { Copy } from '../../../ui/copy.js';
import { copyForms, type CopySource } from './copy-forms.js';

/** Copies the prompt in a form that the reader chooses. */
export function CopyMenu({ source }: { source: CopySource }) {
  const [label, setLabel] = useState<string | null>(null);
  const forms = copyForms(source);
  const form = forms.find((each) => each.label === label) ?? forms[0]!;
  return (
    <span class="copy-menu">
      <select aria-label="Copy as" value={form.label} onChange={(event) => setLabel(event.currentTarget.value)}>
        {forms.map((each) => (
          <option key={each.label}>{each.label}</option>
        ))}
      </select>
      <Copy text={form.text} />
    </span>
  );
}
