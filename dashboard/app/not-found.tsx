import { Compass } from 'lucide-react';
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { buttonClass } from '../ui/button.tsx';
import { Empty } from '../ui/empty.tsx';
import { useTitle } from './title.ts';

/** An address without a view. */
export function NotFound(): ReactElement {
  useTitle('Not found');
  return (
    <>
      <h1>There is no such page</h1>
      <Empty icon={Compass} title="The address leads nowhere">
        <p>The views of the dashboard are in the menu.</p>
        <Link className={buttonClass('main')} href="/overview">
          Go to the overview
        </Link>
      </Empty>
    </>
  );
}
