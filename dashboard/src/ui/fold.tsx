import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

/** A part that opens by a click; its content is made when it is open. */
export function Fold(props: {
  summary: ComponentChildren;
  children: () => ComponentChildren;
  isOpen?: boolean;
  class?: string;
}) {
  const [isOpen, setOpen] = useState(props.isOpen ?? false);
  return (
    <details class={`fold ${props.class ?? ''}`} open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{props.summary}</summary>
      {isOpen && <div class="fold-body">{props.children()}</div>}
    </details>
  );
}
