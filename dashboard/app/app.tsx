import type { ReactElement } from 'react';
import { Redirect, Route, Switch, useLocation } from 'wouter';
import { useSession } from '../api/session.tsx';
import { loginFor } from '../api/session-state.ts';
import { Closed } from '../features/login/closed.tsx';
import { Login } from '../features/login/login.tsx';
import { Overview } from '../features/overview/overview.tsx';
import { RootRedirect } from '../features/setup/root-redirect.tsx';
import { Failure } from '../ui/failure.tsx';
import { lazyView } from '../ui/lazy/lazy-view.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { ErrorBoundary } from './error-boundary.tsx';
import { NotFound } from './not-found.tsx';
import { Shell } from './shell.tsx';

/** The views, loaded lazily on first use. The overview is part of the first page. */
const Playground = lazyView({
  what: 'the playground',
  title: 'Playground',
  load: async () => (await import('../features/playground/playground.tsx')).Playground,
});
const Slots = lazyView({
  what: 'the slots',
  title: 'Slots',
  load: async () => (await import('../features/slots/slots.tsx')).Slots,
});
const Models = lazyView({
  what: 'the models',
  title: 'Models',
  load: async () => (await import('../features/models/models.tsx')).Models,
});
const Memory = lazyView({
  what: 'the notes',
  title: 'Notes',
  load: async () => (await import('../features/memory/memory.tsx')).Memory,
});
const Hardware = lazyView({
  what: 'the hardware',
  title: 'Hardware',
  load: async () => (await import('../features/hardware/hardware.tsx')).Hardware,
});
const Requests = lazyView({
  what: 'the requests',
  title: 'Requests',
  load: async () => (await import('../features/requests/requests.tsx')).Requests,
});
const Settings = lazyView({
  what: 'the settings',
  title: 'Settings',
  load: async () => (await import('../features/settings/settings.tsx')).Settings,
});
const Setup = lazyView({
  what: 'the setup',
  title: 'Gateway setup',
  load: async () => (await import('../features/setup/setup.tsx')).Setup,
});
const Security = lazyView({
  what: 'the security view',
  title: 'Security',
  load: async () => (await import('../features/security/security.tsx')).Security,
});

function Views(): ReactElement {
  const [path] = useLocation();
  const { sessionState, error } = useSession();
  if (sessionState === 'first') return <Redirect to={loginFor(window.location)} replace />;
  if (sessionState === 'unknown')
    return error ? <Failure error={error} /> : <Skeleton lines={6} what="the view" />;
  // A closed gateway serves setup only.
  if (sessionState === 'closed' && path !== '/setup') return <Closed />;
  return (
    <ErrorBoundary key={path.split('/')[1]}>
      <Switch>
        <Route path="/" component={RootRedirect} />
        <Route path="/setup" component={Setup} />
        <Route path="/overview" component={Overview} />
        <Route path="/slots/:tab?">{({ tab }) => <Slots tab={tab ?? 'all'} />}</Route>
        <Route path="/models/:tab?">{({ tab }) => <Models tab={tab ?? 'installed'} />}</Route>
        <Route path="/playground/:mode?">{({ mode }) => <Playground mode={mode ?? 'chat'} />}</Route>
        <Route path="/requests/:tab?">{({ tab }) => <Requests tab={tab ?? 'log'} />}</Route>
        <Route path="/hardware" component={Hardware} />
        <Route path="/memory" component={Memory} />
        <Route path="/security/:tab?">{({ tab }) => <Security tab={tab ?? 'posture'} />}</Route>
        <Route path="/settings/:tab?">{({ tab }) => <Settings tab={tab ?? 'all'} />}</Route>
        <Route component={NotFound} />
      </Switch>
    </ErrorBoundary>
  );
}

/** The dashboard; every view has its own URL. */
export function App(): ReactElement {
  return (
    <Shell>
      <Switch>
        <Route path="/login" component={Login} />
        <Route component={Views} />
      </Switch>
    </Shell>
  );
}
