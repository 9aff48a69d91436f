import { useLayoutEffect, useRef } from 'preact/hooks';

/** A text that Enter saves and Escape leaves as it was; an empty one is null. */
export function TextField(props: {
  label: string;
  value: string;
  onDone: (text: string | null) => void;
  onCancel: () => void;
}) {
  const area = useRef<HTMLTextAreaElement>(null);
  const isDone = useRef(false);
  // Before the next key is pressed.
  useLayoutEffect(() => {
    area.current!.focus();
    area.current!.select();
  }, []);
  const finish = (work: () => void) => {
    if (isDone.current) return;
    isDone.current = true;
    work();
  };
  const save = () => finish(() => props.onDone(area.current!.value.trim() || null));
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing || (event.key !== 'Escape' && (event.key !== 'Enter' || event.shiftKey))) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === 'Escape') finish(props.onCancel);
    else save();
  };
  return (
    <div class="field review-text">
      <label class="field">
        <span class="field-label">{props.label}</span>
        <textarea ref={area} rows={3} dir="auto" maxLength={10_000} onKeyDown={onKeyDown}>
          {props.value}
        </textarea>
      </label>
      <span class="actions">
        <button type="button" class="button button-small" onClick={save}>
          Save
        </button>
        <span class="field-hint">Enter saves, Shift+Enter begins a line, Esc leaves it as it was.</span>
      </span>
    </div>
  );
}
