import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { jobKinds, kindNames, type JobKind } from '../../src/core/jobs/kinds.js';
import { apiKey, signOut } from './data/access.js';
import { CheckupPage } from './pages/checkup/page.js';
import { DatasetsPage } from './pages/datasets/page.js';
import { DeploymentPage } from './pages/deployments/version/page.js';
import { MigrationPage } from './pages/migration/page.js';
import { DeploymentsPage } from './pages/deployments/page.js';
import { ComparePage } from './pages/compare/page.js';
import { EvaluationPage } from './pages/evaluation/page.js';
import { GraphPage } from './pages/graph/page.js';
import { RunFormPage } from './pages/new/entry.js';
import { NowPage } from './pages/now/page.js';
import { PlaygroundPage } from './pages/playground/page.js';
import { RunsPage } from './pages/runs/page.js';
import { SessionPage } from './pages/session/page.js';
import { SignIn } from './pages/sign-in.js';
import { route, link } from './util/router.js';
import { Heading } from './ui/heading.js';
import { HealthStrip, SilenceBanner } from './ui/health-strip.js';
import { Keys } from './ui/keys/keys.js';
import { sections } from './ui/keys/sections.js';
import { ThemeButton } from './ui/theme.js';

export function App() {
  if (apiKey.value === null) return <SignIn />;
  return (
    <>
      <a class="skip" href="#main" onClick={skipToMain}>
        Skip to the content
      </a>
      <Header />
      <SilenceBanner />
      <main id="main" tabIndex={-1}>
        <Page />
      </main>
      <Keys />
    </>
  );
}

/** The fragment is the address of the page, so the link moves the focus itself. */
function skipToMain(event: Event): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

function Header() {
  const current = sectionOf(route.value.parts);
  const [isOpen, setOpen] = useState(false);
  useEffect(() => setOpen(false), [route.value]);
  const onKeyDown = ({ key }: KeyboardEvent) => {
    if (key === 'Escape') setOpen(false);
  };
  return (
    <header class={isOpen ? 'top top-open' : 'top'} onKeyDown={onKeyDown}>
      <a class="brand" href={link([])}>
        <img src="/favicon.svg" alt="" width="22" height="22" /> Ratchet
      </a>
      <button type="button" class="button top-menu" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        Menu <span aria-hidden="true">▾</span>
      </button>
      <nav aria-label="Sections">
        {sections.map(({ name, parts }) => (
          <a key={name} href={link(parts)} aria-current={parts[0] === current ? 'page' : undefined}>
            {name}
          </a>
        ))}
      </nav>
      <HealthStrip />
      <div class="top-end">
        <a href="/docs">API</a>
        <ThemeButton />
        <button type="button" class="button button-small" onClick={() => signOut()}>
          Sign out
        </button>
      </div>
    </header>
  );
}

/** The section of a page: those of runs have none of their own. */
function sectionOf([part]: readonly string[]): string | undefined {
  return sections.find(({ parts }) => parts[0] === part)?.parts[0];
}

/** By the first part of the address. */
const pages = new Map<string, () => ComponentChildren>([
  ['', RunsPage],
  ['new', RunFormPage],
  ['compare', ComparePage],
  ['datasets', DatasetsPage],
  ['now', NowPage],
  ['playground', PlaygroundPage],
  [jobKinds.deployment.page, DeploymentsPage],
]);

const jobPages: Record<JobKind, (props: { id: string }) => ComponentChildren> = {
  session: SessionPage,
  evaluation: EvaluationPage,
  graph: GraphPage,
  deployment: DeploymentPage,
  migration: MigrationPage,
  checkup: CheckupPage,
};

function Page() {
  const [section = '', id] = route.value.parts;
  const kind = kindNames.find((name) => jobKinds[name].page === section);
  const JobPage = kind && jobPages[kind];
  if (JobPage && id) return <JobPage key={id} id={id} />;
  const OtherPage = pages.get(section) ?? (kind && RunsPage);
  return OtherPage ? <OtherPage /> : <NotFound path={[section, id].filter(Boolean).join('/')} />;
}

function NotFound({ path }: { path: string }) {
  return (
    <div class="empty">
      <Heading title="No such page">There is no page “{path}”.</Heading>
      <a href={link([])}>All runs</a>
    </div>
  );
}
