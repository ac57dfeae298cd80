import { lazy, type ReactElement, Suspense } from 'react';
import { Redirect, Route, Switch, useLocation } from 'wouter';
import { useSession } from '../api/session.tsx';
import { Login } from '../features/login/login.tsx';
import { Overview } from '../features/overview/overview.tsx';
import { FrontDoor } from '../features/setup/front-door.tsx';
import { Failure } from '../ui/failure.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { Mishap } from './mishap.tsx';
import { NotFound } from './not-found.tsx';
import { Shell } from './shell.tsx';

const Playground = lazy(async () => ({
  default: (await import('../features/playground/playground.tsx')).Playground,
}));
const Slots = lazy(async () => ({
  default: (await import('../features/slots/slots.tsx')).Slots,
}));
const Models = lazy(async () => ({
  default: (await import('../features/models/models.tsx')).Models,
}));
const Memory = lazy(async () => ({
  default: (await import('../features/memory/memory.tsx')).Memory,
}));
const Hardware = lazy(async () => ({
  default: (await import('../features/hardware/hardware.tsx')).Hardware,
}));
const Requests = lazy(async () => ({
  default: (await import('../features/requests/requests.tsx')).Requests,
}));
const Settings = lazy(async () => ({
  default: (await import('../features/settings/settings.tsx')).Settings,
}));
const Setup = lazy(async () => ({
  default: (await import('../features/setup/setup.tsx')).Setup,
}));
const Security = lazy(async () => ({
  default: (await import('../features/security/security.tsx')).Security,
}));

function Views(): ReactElement {
  const [path] = useLocation();
  const { gate, error } = useSession();
  if (gate === 'first') return <Redirect to={`/login?next=${encodeURIComponent(path)}`} replace />;
  if (gate === 'unknown') return error ? <Failure error={error} /> : <Skeleton lines={6} what="the view" />;
  return (
    <Mishap key={path.split('/')[1]}>
      <Suspense fallback={<Skeleton lines={6} what="the view" />}>
        <Switch>
          <Route path="/" component={FrontDoor} />
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
      </Suspense>
    </Mishap>
  );
}

/** The whole dashboard: every view has its own address. */
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
