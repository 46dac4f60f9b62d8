package server

import (
	"context"

	"heddle/engine/api"
)

// machineService implements api.MachineServiceHandler.
type machineService struct{ s *Server }

// ListDevices implements api.MachineServiceHandler.
func (m machineService) ListDevices(context.Context, *api.ListDevicesRequest) (*api.ListDevicesResponse, error) {
	out := &api.ListDevicesResponse{}
	for _, p := range m.s.engine.Processors() {
		i := p.Info
		d := &api.Device{
			Name: p.Name, Kind: i.Kind, Device: i.Device, Platform: i.Platform, Vendor: i.Vendor, Driver: i.Driver, Version: i.Version,
			Type: i.Type, ComputeUnits: uint32(i.ComputeUnits), Memory: i.Memory, Reserve: p.Reserve, Reason: p.Reason,
		}
		if p.Removed != nil {
			d.Removed = p.Removed.Error()
		}
		out.Devices = append(out.Devices, d)
	}
	return out, nil
}

// adminService implements api.AdminServiceHandler.
type adminService struct{ s *Server }

// ReloadIndex implements api.AdminServiceHandler.
func (a adminService) ReloadIndex(ctx context.Context, r *api.ReloadIndexRequest) (*api.ReloadIndexResponse, error) {
	x, _, err := find(a.s.indexes, "index", r.GetIndex())
	if err != nil {
		return nil, err
	}
	err = a.s.loadIndex(ctx, x)
	return &api.ReloadIndexResponse{Checksum: hex(x.checksum.Load())}, err
}

// ReloadTable implements api.AdminServiceHandler.
func (a adminService) ReloadTable(ctx context.Context, r *api.ReloadTableRequest) (*api.ReloadTableResponse, error) {
	x, _, err := find(a.s.tables, "table", r.GetTable())
	if err != nil {
		return nil, err
	}
	err = a.s.loadTable(ctx, x)
	return &api.ReloadTableResponse{Checksum: hex(x.checksum.Load())}, err
}

// Drain implements api.AdminServiceHandler.
func (a adminService) Drain(context.Context, *api.DrainRequest) (*api.DrainResponse, error) {
	a.s.Drain()
	return &api.DrainResponse{}, nil
}
