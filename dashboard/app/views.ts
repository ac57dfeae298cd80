import { LayoutDashboard, type LucideIcon, MessageSquareText, ShieldCheck } from 'lucide-react';

export interface ViewLink {
  path: string;
  word: string;
  icon: LucideIcon;
}

/** The views of the rail, in its order. */
export const VIEWS: readonly ViewLink[] = [
  { path: '/overview', word: 'Overview', icon: LayoutDashboard },
  { path: '/playground', word: 'Playground', icon: MessageSquareText },
  { path: '/security', word: 'Security', icon: ShieldCheck },
];

export interface TabLink {
  id: string;
  word: string;
}

/** The tabs of the security view; the first is what `/security` shows. */
export const SECURITY_TABS: readonly TabLink[] = [
  { id: 'posture', word: 'Posture' },
  { id: 'rotate', word: 'Rotate keys' },
  { id: 'exposure', word: 'Exposure' },
  { id: 'sessions', word: 'Sessions' },
];
