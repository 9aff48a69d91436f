/** The style of a report: a page for screens and paper, light or dark. */
export const style = `
:root { color-scheme: light dark; --ink: #16202b; --quiet: #54616f; --line: #d5dbe2; --paper: #fff; --panel: #f5f7f9;
  --good: #0b6b3a; --good-paper: #e2f4e9; --bad: #a3211b; --bad-paper: #fbe6e4; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6ebf0; --quiet: #a2aebb; --line: #37424e; --paper: #12181e;
  --panel: #1a222a; --good: #6fd69b; --good-paper: #12301f; --bad: #ff9b93; --bad-paper: #3a1917; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 70rem; padding: 2rem 1rem 4rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { margin: 0; font-size: 1.7rem; line-height: 1.2; overflow-wrap: anywhere; }
h2 { margin: 2.2rem 0 .6rem; font-size: 1.15rem; }
.quiet { color: var(--quiet); }
.lead { margin: 1rem 0 0; padding: 1rem; border-left: 4px solid var(--line); background: var(--panel); }
.lead p { margin: 0; } .lead p + p, .lead ul { margin: .4rem 0 0; }
.better { border-color: var(--good); } .worse { border-color: var(--bad); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; margin: 0; }
dt { color: var(--quiet); } dd { margin: 0; overflow-wrap: anywhere; }
table { width: 100%; border-collapse: collapse; font-size: .9rem; }
th, td { padding: .4rem .5rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top;
  overflow-wrap: anywhere; }
td { min-width: 8rem; white-space: pre-wrap; } td:first-child { min-width: 3rem; } th { color: var(--quiet); font-weight: 600; }
.scroll { overflow-x: auto; }
pre { margin: 0; padding: .8rem; background: var(--panel); white-space: pre-wrap; overflow-wrap: anywhere;
  font: .85rem/1.5 ui-monospace, monospace; }
ins { text-decoration: none; } u { text-decoration: underline dotted; }
ins { background: var(--good-paper); color: var(--good); } del { background: var(--bad-paper); color: var(--bad); }
svg { display: block; width: 100%; max-width: 36rem; height: 3.2rem; }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr; } dt { margin-top: .3rem; } }
@media print { body { max-width: none; padding: 0; } details::details-content { content-visibility: visible; block-size: auto; } }
`;
