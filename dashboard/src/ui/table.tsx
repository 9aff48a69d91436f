import type { ComponentChildren } from 'preact';

/** The head of a column: its name, or with a look and what it means. */
type ColumnHead = string | { name: string; class?: string; title?: string };

export const numbers = (name: string, title?: string): ColumnHead => ({
  name,
  class: 'number',
  ...(title !== undefined && { title }),
});

/** A column that a phone leaves out. */
export const roomy = (head: ColumnHead): ColumnHead => {
  const { class: look = '', ...rest } = typeof head === 'string' ? { name: head } : head;
  return { ...rest, class: `${look} on-roomy` };
};

/** A table that scrolls sideways; `children` are its rows. An empty head is that of actions. */
export function Table(props: {
  label: string;
  heads: readonly ColumnHead[];
  children: ComponentChildren;
  class?: string;
  boxClass?: string;
}) {
  const { label, heads, children, class: look = '', boxClass = '' } = props;
  return (
    <div class={`table-box ${boxClass}`} tabIndex={0} role="region" aria-label={label}>
      <table class={`table ${look}`}>
        <thead>
          <tr>
            {heads.map((head) => (
              <Head key={typeof head === 'string' ? head : head.name} head={head} />
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

function Head({ head }: { head: ColumnHead }) {
  const { name, ...look } = typeof head === 'string' ? { name: head } : head;
  return <th {...look}>{name === '' ? <span class="visually-hidden">Actions</span> : name}</th>;
}
