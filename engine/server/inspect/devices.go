package inspect

import (
	"context"

	"heddle/engine/api"
)

// ListDevices implements api.MachineServiceHandler.
func (s *Service) ListDevices(context.Context, *api.ListDevicesRequest) (*api.ListDevicesResponse, error) {
	e, err := s.Engine()
	if err != nil {
		return nil, err
	}
	out := &api.ListDevicesResponse{}
	for _, p := range e.Processors() {
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
