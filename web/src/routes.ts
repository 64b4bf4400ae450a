import type { Route } from './match';

// Every page is loaded when it is first opened; the device page alone brings
// the charts with it.
export const routes: Route[] = [
  { path: '/', first: true, load: () => import('./pages/overview/Overview.svelte') },
  { path: '/devices/:serial', load: () => import('./pages/device/Device.svelte') },
  { path: '/compare', load: () => import('./pages/compare/Compare.svelte') },
  { path: '/connect', load: () => import('./pages/connect/Connect.svelte') },
  { path: '/send', access: 'public', bare: true, load: () => import('./pages/connect/Send.svelte') },
  { path: '/alerts', load: () => import('./pages/alerts/Alerts.svelte') },
  { path: '/alerts/:id', load: () => import('./pages/alerts/Alerts.svelte') },
  { path: '/sites', load: () => import('./pages/sites/Sites.svelte') },
  { path: '/sites/:id', load: () => import('./pages/sites/Site.svelte') },
  { path: '/account', load: () => import('./pages/account/Settings.svelte') },
  { path: '/account/:tab', load: () => import('./pages/account/Settings.svelte') },
  { path: '/cases', load: () => import('./pages/cases/Cases.svelte') },
  { path: '/cases/:id', load: () => import('./pages/cases/Case.svelte') },
  { path: '/reports', load: () => import('./pages/reports/Reports.svelte') },
  { path: '/settings', load: () => import('./pages/workspace/Settings.svelte') },
  { path: '/settings/:tab', load: () => import('./pages/workspace/Settings.svelte') },
  { path: '/labels', bare: true, load: () => import('./pages/labels/Labels.svelte') },
  { path: '/wall', bare: true, load: () => import('./pages/wall/Wall.svelte') },
  { path: '/status', access: 'public', bare: true, load: () => import('./pages/status/Status.svelte') },
  { path: '/a/:ticket', access: 'public', bare: true, load: () => import('./pages/link/Acknowledge.svelte') },
  { path: '/sign-in', access: 'public', bare: true, load: () => import('./pages/account/SignIn.svelte') },
  { path: '/forgot', access: 'public', bare: true, load: () => import('./pages/account/Forgot.svelte') },
  { path: '/reset', access: 'public', bare: true, load: () => import('./pages/account/Reset.svelte') },
  { path: '/no-workspace', bare: true, load: () => import('./pages/account/NoWorkspace.svelte') },
  { path: '/set-up', access: 'public', bare: true, load: () => import('./pages/account/SetUp.svelte') },
  { path: '/invitation', access: 'public', bare: true, load: () => import('./pages/account/Invitation.svelte') },
  { path: '/policies', access: 'public', load: () => import('./pages/policies/Policies.svelte') },
  { path: '/policies/:slug', access: 'public', load: () => import('./pages/policies/Policies.svelte') },
];
